/** A whole cloud of real processes, from nothing to a server that is ACTIVE on an OVN network, and its maintenance. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { jsonLines } from "./outage.ts";
import { PATIENCE, type Rig } from "./rig.ts";
import { bootServer, computesUp, serverNow } from "./servers.ts";
import { COMPUTE, CONTROL, restarted, seconds, startWholeCloud } from "./whole-cloud.ts";

/** From nothing to a server. */
const LIMIT = 5 * 60_000;

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;
  let readyAfter: number;

  beforeAll(async () => {
    ({ rig, readyAfter } = await startWholeCloud());
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("brings a server to ACTIVE on an OVN network, from nothing, with no restart of any container", async () => {
    const began = Date.now();
    const server = await bootServer(rig, "first");
    const activeAfter = readyAfter + Date.now() - began;
    console.log(`ready after ${seconds(readyAfter)} s, a server ACTIVE after ${seconds(activeAfter)} s`);
    expect(server.status).toBe("ACTIVE");
    expect(restarted(rig)).toEqual([]);
    expect(activeAfter).toBeLessThan(LIMIT);
    const ports = ["ovn-nbctl", "--no-leader-only", "lsp-list", `neutron-${server.network}`];
    expect(await rig.inContainer("cloud-ovn-nb-0", "ovn-nb", ...ports)).toContain(server.port);
    expect(await computesUp(rig)).toEqual(expect.arrayContaining([CONTROL, COMPUTE]));
  });

  test("moves the servers of a compute node that is drained by live migration, and takes it back after it", async () => {
    const server = await bootServer(rig, "moved", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    const began = Date.now();
    rig.kubectl("drain", COMPUTE, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=2700s");
    console.log(`${COMPUTE} was drained in ${seconds(Date.now() - began)} s`);
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
    rig.kubectl("uncordon", COMPUTE);
    await eventually(PATIENCE, async () => (await computesUp(rig)).includes(COMPUTE));
  });

  test("writes every line of the logs of all services as one JSON object", () => {
    expect(jsonLines(rig)).toEqual([]);
  });
});
