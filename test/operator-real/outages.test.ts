/** A whole cloud of real processes whose database and whose broker do not respond for minutes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { adminToken, NAME, restarts, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { freeze, responds } from "./outage.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { bootServer } from "./servers.ts";
import { ask, keepAsking, questions, Readiness } from "./watch.ts";
import { restarted, seconds, startWholeCloud, whenReady } from "./whole-cloud.ts";

/**
 * An API waits for 60 s for a connection that it has, and, where that was found to be dead, for another one. Neutron
 * alone makes up to ten attempts of that by itself, and answers later.
 */
const ANSWER_SECONDS = 135;
const PATIENT = "neutron-server";
/** From the first response of what was away. */
const BACK_SECONDS = 120;

/** Does the component serve, as its probe says? */
const stateOf = (rig: Rig, component: string) => statusOf(rig).components?.find(({ name }) => name === component);
const isReady = (rig: Rig, component: string): boolean => stateOf(rig, component)?.state === "Ready";

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;

  beforeAll(async () => {
    ({ rig } = await startWholeCloud());
  });

  afterAll(async () => {
    await rig?.close();
  });

  test.each([
    ["the broker", "rabbitmq", 300],
    // Longer than the bound, so that a request that waits for the end of the outage is found.
    ["the database", "mariadb", 150],
  ] as const)("restarts nothing while %s does not respond, and APIs answer", async (_, component, away) => {
    const before = restarts(rig);
    const all = await questions(rig);
    for (const question of all) expect(await ask(rig, question)).toMatchObject({ status: 200 });
    expect(await responds(rig, component)).toBe(true);
    const readiness = new Readiness(rig);
    const thaw = await freeze(rig, component);
    const frozenAt = Date.now();
    expect(await responds(rig, component)).toBe(false);
    const asking = keepAsking(rig, all);
    await new Promise((resolve) => setTimeout(resolve, away * 1000));
    expect(isReady(rig, component)).toBe(false);
    expect(await responds(rig, component)).toBe(false);
    const served = readiness.now();
    const causes = [...readiness.askDatabase].map((api) => stateOf(rig, api)?.rootCause ?? "");
    await thaw();
    const thawedAt = Date.now();
    await eventually(TIMEOUT, () => responds(rig, component));
    const backAt = Date.now();
    for (const question of all) await eventually(TIMEOUT, async () => (await ask(rig, question)).status === 200);
    const answeredAt = Date.now();
    await whenReady(rig);
    const readyAt = Date.now();
    const answers = (await asking.stop()).filter(({ sentAt }) => sentAt > frozenAt && sentAt < thawedAt);
    const changes = readiness.stop();
    // What itself does not respond for three minutes is started again.
    const again = restarted(rig, before).filter(([name]) => !name.startsWith(`${NAME}-${component}-`));
    record(`${component} does not respond for ${away} s`, {
      restarts: again.length,
      requests: answers.length,
      requestsAnswered: answers.filter(({ status }) => status === 200).length,
      requestsRefused: answers.filter(({ isRefused }) => isRefused).length,
      slowestSeconds: Math.round(Math.max(...answers.map((each) => each.seconds))),
      secondsToItsFirstResponse: seconds(backAt - thawedAt),
      secondsToAllApis: seconds(answeredAt - backAt),
      secondsToReady: seconds(readyAt - backAt),
    });
    console.log(JSON.stringify({ changes, answers }));
    expect(again).toEqual([]);
    const isDatabase = component === "mariadb";
    const needIt = isDatabase ? [...readiness.askDatabase] : [];
    if (isDatabase) {
      // Neutron's own server of these releases has no program in front of it.
      const expected = all.map(({ api }) => api).filter((api) => api !== PATIENT);
      expect(needIt).toEqual(expect.arrayContaining(expected));
      // Such a pod gets no requests, and the status says why.
      expect(needIt.filter((name) => served.has(name))).toEqual([]);
      expect(causes.filter((cause) => !cause.startsWith("mariadb: "))).toEqual([]);
    }
    // An API says within a bound that it cannot answer, or it answers, or no pod of it takes requests.
    expect(new Set(answers.map(({ api }) => api)).size).toBe(all.length);
    const longest = (api: string) => ANSWER_SECONDS + (api === PATIENT ? away : 0);
    const refused = answers.filter(({ api, isRefused }) => isRefused && needIt.includes(api));
    const others = answers.filter((each) => !refused.includes(each));
    expect(others.filter((each) => each.status === 0 || each.seconds > longest(each.api))).toEqual([]);
    expect(others.filter(({ status }) => status !== 200 && status < 500)).toEqual([]);
    // What needs the broker or the database is not ready without it, once; nothing else is, but what was away.
    const mayChange = new Set([component, ...(isDatabase ? needIt : readiness.askBroker)]);
    expect(Object.entries(changes).filter(([name, times]) => !mayChange.has(name) || times > 2)).toEqual([]);
    expect(answeredAt - backAt).toBeLessThan(BACK_SECONDS * 1000);
    expect(readyAt - backAt).toBeLessThan(BACK_SECONDS * 1000);
    await adminToken(rig);
    expect((await bootServer(rig, `after-${component}`)).status).toBe("ACTIVE");
  });
});
