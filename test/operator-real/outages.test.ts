/** A whole cloud of real processes whose database and whose broker do not respond for minutes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminToken, restarts } from "./cloud.ts";
import { freeze } from "./outage.ts";
import type { Rig } from "./rig.ts";
import { bootServer } from "./servers.ts";
import { restarted, seconds, startWholeCloud, whenReady } from "./whole-cloud.ts";

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
    const thaw = await freeze(rig, component);
    await new Promise((resolve) => setTimeout(resolve, away * 1000));
    await thaw();
    const back = Date.now();
    await whenReady(rig);
    console.log(`all components were ready again ${seconds(Date.now() - back)} s after ${component} was back`);
    expect(restarted(rig, before)).toEqual([]);
    await adminToken(rig);
    expect((await bootServer(rig, `after-${component}`)).status).toBe("ACTIVE");
  });
});
