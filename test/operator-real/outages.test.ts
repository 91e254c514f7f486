/** A whole cloud of real processes whose database and whose broker do not respond for minutes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminToken, NAME, restarts, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { freeze, responds } from "./outage.ts";
import type { Rig } from "./rig.ts";
import { bootServer } from "./servers.ts";
import { restarted, seconds, startWholeCloud, whenReady } from "./whole-cloud.ts";

/** Does the component serve, as its probe says? */
const isReady = (rig: Rig, component: string): boolean =>
  statusOf(rig).components?.find(({ name }) => name === component)?.state === "Ready";

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;

  beforeAll(async () => {
    ({ rig } = await startWholeCloud());
  });

  afterAll(async () => {
    await rig?.close();
  });

  test.each([
    ["the database", "mariadb", 120],
    ["the broker", "rabbitmq", 300],
  ] as const)("restarts nothing while %s does not respond", async (_, component, away) => {
    const before = restarts(rig);
    expect(await responds(rig, component)).toBe(true);
    const thaw = await freeze(rig, component);
    expect(await responds(rig, component)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, away * 1000));
    expect(isReady(rig, component)).toBe(false);
    await thaw();
    const back = Date.now();
    await whenReady(rig);
    // What itself does not respond for three minutes is started again.
    const again = restarted(rig, before).filter(([name]) => !name.startsWith(`${NAME}-${component}-`));
    record(`${component} does not respond for ${away} s`, {
      secondsToReadyAfter: seconds(Date.now() - back),
      restarts: again.length,
    });
    expect(again).toEqual([]);
    await adminToken(rig);
    expect((await bootServer(rig, `after-${component}`)).status).toBe("ACTIVE");
  });
});
