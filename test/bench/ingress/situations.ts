import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { scaled } from "../load-balancer/rows.ts";
import type { Outcome } from "../load-balancer/situations.ts";
import type { Stage } from "./stage.ts";

export interface Limits {
  /** Seconds that a row may take; what is not done by then is scaled from what is. */
  readonly seconds: number;
  /** Real minutes of the idle row. */
  readonly idleMinutes: number;
}

export const MANY = 100;
const DAY = 86_400_000;
const LOOK = 200;
/** Without a call for so long (ms), a controller is done. */
const QUIET = 5_000;
/** What it does after the goal is reached is counted for so long (ms) at most. */
const AFTERWARDS = 20_000;
/** Seconds for a row of one Ingress: it cannot be scaled from a part. */
const SINGLE = 120;
const SECRET = "certificate";

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const names = Array.from({ length: MANY }, (_, i) => `many-${i}`);

/** No row pays for a process's first calls. */
export async function warmUp(stage: Stage): Promise<void> {
  await stage.addIngresses(["first"], ["one"]);
  await reach(stage, 240);
  await quiet(stage, AFTERWARDS);
  // A path comes and goes: how long the cloud takes for a change is known to a controller that has run for a while.
  for (const services of [["one", "two"], ["one"]]) {
    await stage.changeIngress("first", services);
    await reach(stage, 240);
    await quiet(stage, AFTERWARDS);
  }
  await stage.deleteIngresses(["first"]);
  await reach(stage, 240);
  await quiet(stage, AFTERWARDS);
}

/** 100 Ingresses at once. A side that is not done in time is scaled, and finishes on a cloud without delays. */
export async function manyAtOnce(stage: Stage, { seconds: limit }: Limits): Promise<Outcome> {
  return partly(stage, limit, {
    work: () => stage.addIngresses(names, ["one"]),
    done: () => stage.served(),
  });
}

export async function deleteAll(stage: Stage, { seconds: limit }: Limits): Promise<Outcome> {
  return partly(stage, limit, {
    work: () => stage.deleteIngresses(names),
    done: async () => MANY - (await stage.balancers()),
  });
}

export async function addPath(stage: Stage): Promise<Outcome> {
  return act(
    stage,
    () => stage.changeIngress("many-0", ["one", "two"]),
    () => stage.reached(),
  );
}

/** One Ingress with TLS comes before, and goes after; the row is the change of its Secret. */
export async function changeCertificate(stage: Stage): Promise<Outcome> {
  const authority = await createAuthority({ commonName: "bench", lifetime: DAY });
  const pair = (): Promise<KeyPair> =>
    issueCertificate(authority, {
      commonName: "tls.example",
      dnsNames: ["tls.example"],
      usages: ["server"],
      lifetime: DAY,
    });
  await stage.putCertificate(SECRET, await pair());
  await stage.addIngresses(["tls"], ["one"], SECRET);
  await reach(stage, 240);
  await quiet(stage, AFTERWARDS);
  const before = await stage.certificateOf("tls");
  const changed = async (): Promise<boolean> =>
    (await stage.certificateOf("tls")) !== before && (await stage.reached());
  const next = await pair();
  const outcome = await act(stage, () => stage.putCertificate(SECRET, next), changed);
  await stage.deleteIngresses(["tls"]);
  await reach(stage, 240);
  await quiet(stage, AFTERWARDS);
  return outcome;
}

export async function runAgain(stage: Stage): Promise<Outcome> {
  await stage.stopController();
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    stage.startController();
    const started = Date.now();
    await until(async () => stage.lastCallAt() >= started, begun + 60_000);
    await quiet(stage, 300_000);
    return (stage.lastCallAt() - Date.now() + performance.now() - begun) / 1000;
  });
  return { figures: { ...figures, cpuSeconds: stage.cost().cpuSeconds } };
}

/** Nothing happens; an hour, from what so many minutes cost. */
export async function idle(stage: Stage, { idleMinutes }: Limits): Promise<Outcome> {
  await quiet(stage, 60_000);
  const figures = await stage.measure(async () => {
    await pause(idleMinutes * 60_000);
    return idleMinutes * 60;
  });
  const what = figures.calls === 0 ? ", without a call: a change in the cloud is not noticed" : "";
  return { figures: scaled(figures, 60 / idleMinutes), note: `${idleMinutes} real minutes, scaled${what}` };
}

/** Does it, and waits until all is as it is to be; the time to that, and the calls until no more come. */
async function act(stage: Stage, work: () => Promise<void>, goal: () => Promise<boolean>): Promise<Outcome> {
  let note: string | undefined;
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    await work();
    const reached = await until(goal, begun + SINGLE * 1000);
    const seconds = (performance.now() - begun) / 1000;
    if (!reached) note = `not done after ${Math.round(seconds)} s`;
    await quiet(stage, AFTERWARDS);
    return seconds;
  });
  return { figures, ...(note === undefined ? {} : { note }) };
}

interface Parts {
  readonly work: () => Promise<void>;
  /** How many of the Ingresses are as they are to be. */
  readonly done: () => Promise<number>;
}

async function partly(stage: Stage, limit: number, { work, done }: Parts): Promise<Outcome> {
  let note: string | undefined;
  let count = MANY;
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    await work();
    const reached = await until(() => stage.reached(), begun + limit * 1000);
    const seconds = (performance.now() - begun) / 1000;
    if (reached) await quiet(stage, AFTERWARDS);
    else {
      count = await done();
      note = `${count} of ${MANY} after ${Math.round(seconds)} s, scaled`;
    }
    return seconds;
  });
  if (note !== undefined) await hurry(stage);
  return { figures: scaled(figures, MANY / Math.max(1, count)), ...(note === undefined ? {} : { note }) };
}

/** The cloud has no delays until all is done. */
async function hurry(stage: Stage): Promise<void> {
  const { name, cycle } = stage.cloud.provider;
  const delay = (milliseconds: number): void =>
    ["create", "update", "delete"].forEach((verb) =>
      stage.cloud.simulator.setDelay(`loadbalancer.${name}.${verb}`, milliseconds),
    );
  delay(0);
  await reach(stage, 900);
  delay(cycle);
  await quiet(stage, AFTERWARDS);
}

async function reach(stage: Stage, seconds: number): Promise<void> {
  if (!(await until(() => stage.reached(), performance.now() + seconds * 1000)))
    throw new Error(`the Ingresses were not served after ${seconds} s`);
}

/** False when the deadline (of `performance.now`) comes first. */
async function until(test: () => Promise<boolean>, deadline: number): Promise<boolean> {
  while (!(await test())) {
    if (performance.now() > deadline) return false;
    await pause(LOOK);
  }
  return true;
}

/** Until no call has come for a while, or `limit` milliseconds are over. */
async function quiet(stage: Stage, limit: number): Promise<void> {
  const end = Date.now() + limit;
  while (Date.now() < end && Date.now() - stage.lastCallAt() < QUIET) await pause(LOOK);
}
