/** A whole cloud of real processes whose APIs are rolled under load, and one of whose compute nodes is lost. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { serviceAddress, statusOf } from "./cloud.ts";
import { PATIENCE, type Rig } from "./rig.ts";
import { bootServer, serverNow } from "./servers.ts";
import { roll, underLoad } from "./under-load.ts";
import { COMPUTE, CONTROL, seconds, startWholeCloud, wholeCloud } from "./whole-cloud.ts";

/** An option that changes nothing that is asked here. */
const unused = (option: string, value: string) => ({ section: "DEFAULT", option, value });

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;

  beforeAll(async () => {
    ({ rig } = await startWholeCloud());
  });

  afterAll(async () => {
    await rig?.close();
  });

  test.each([
    ["Glance", "glance-api", "9292/versions", { glance: [unused("limit_param_default", "26")] }],
    ["Neutron", "neutron-server", "9696/", { neutron: [unused("dhcp_lease_duration", "86401")] }],
  ] as const)("rolling the API of %s under 50 requests a second fails none of them", async (_, api, path, options) => {
    const url = `http://${serviceAddress(rig, api)}:${path}`;
    const result = await underLoad(rig, { url, perSecond: 50 }, [
      `${api} is rolled`,
      () => roll(rig, api, wholeCloud(options)),
    ]);
    expect(result.examples).toEqual([]);
    expect(result.sent).toBeGreaterThan(500);
  });

  test("evacuates a compute node that is lost only after it is marked as switched off", async () => {
    const server = await bootServer(rig, "lost", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    await rig.machines[1]?.powerOff();
    const phase = () => statusOf(rig).maintenance?.find(({ node }) => node === COMPUTE)?.phase;
    await eventually(PATIENCE, () => phase() === "Unreachable");
    expect((await serverNow(rig, server.id)).host).toBe(COMPUTE);
    const began = Date.now();
    rig.kubectl("taint", "node", COMPUTE, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
    await eventually(PATIENCE, async () => {
      const { status, host } = await serverNow(rig, server.id);
      return host === CONTROL && status === "ACTIVE";
    });
    console.log(`the server was on ${CONTROL} ${seconds(Date.now() - began)} s after the node was marked`);
  });
});
