/**
 * A whole cloud of real processes whose APIs are rolled under load, and one of whose compute nodes is lost and removed.
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { podsOf, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { PATIENCE, type Rig } from "./rig.ts";
import { bootServer, computesUp, serverNow, tracesOf } from "./servers.ts";
import { roll, underLoad } from "./under-load.ts";
import { COMPUTE, CONTROL, seconds, startWholeCloud, whenReady, wholeCloud } from "./whole-cloud.ts";

/** A node without a port has fewer flows. */
const PLUGGED = 50;
/** So often the same number of flows, a second or so apart, is all of them. */
const SETTLED = 10;

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

  test("a configuration that a service does not start with leaves the old pods serving, and is named", async () => {
    const url = `http://${serviceAddress(rig, "glance-api")}:9292/versions`;
    // An option that exists, with a value that no check of types can refuse.
    const bad = { glance: [{ section: "paste_deploy", option: "flavor", value: "missing" }] };
    const component = () => statusOf(rig).components?.find(({ name }) => name === "glance-api");
    const result = await underLoad(rig, { url, perSecond: 20 }, [
      "a rollout of glance-api that fails",
      async () => {
        rig.apply(wholeCloud(bad));
        await eventually(PATIENCE, () => /restart|probe|start/i.test(component()?.rootCause ?? ""));
        await new Promise((resolve) => setTimeout(resolve, 20_000));
      },
    ]);
    expect(result.examples).toEqual([]);
    expect(podsOf(rig, "glance-api").length).toBeGreaterThan(1);
    rig.apply(wholeCloud());
    await whenReady(rig);
    expect(podsOf(rig, "glance-api")).toHaveLength(1);
  });

  test("an Open vSwitch that is replaced has all its flows again before it forwards by them", async () => {
    const server = await bootServer(rig, "kept", CONTROL);
    expect(server.status).toBe("ACTIVE");
    const pod = switchOn(rig, CONTROL);
    // Nova's fake driver plugs nothing: an interface of the server's port has all flows of its network written.
    const plug = ["add-port", "br-int", "kept", "--", "set", "interface", "kept", "type=internal"];
    await rig.inContainer(pod, "openvswitch", "ovs-vsctl", ...plug, `external_ids:iface-id=${server.port}`);
    const before = await settledFlows(rig, pod);
    expect(before.length).toBeGreaterThan(100);
    rig.kubectl("delete", "pod", pod, "--wait=false");
    const began = Date.now();
    const after = await eventually(PATIENCE, async () => {
      const next = switchOn(rig, CONTROL);
      return next !== pod && (await isForwarding(rig, next)) ? await flowsOf(rig, next) : undefined;
    });
    record("Open vSwitch replaced", { flows: before.length, seconds: seconds(Date.now() - began) });
    expect(before.filter((flow) => !after.includes(flow))).toEqual([]);
    await whenReady(rig);
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
    record("evacuation of a server, from the node being marked as off", { seconds: seconds(Date.now() - began) });
  });

  test("a compute node that is removed from the cluster leaves Nova, Placement, Neutron and OVN", async () => {
    expect(await tracesOf(rig, COMPUTE)).toEqual({ services: 1, providers: 1, agents: 2, chassis: 1 });
    const began = Date.now();
    rig.kubectl("delete", "node", COMPUTE);
    const nothing = { services: 0, providers: 0, agents: 0, chassis: 0 };
    await eventually(PATIENCE, async () => isDeepStrictEqual(await tracesOf(rig, COMPUTE), nothing));
    record("a removed compute node without a trace", { seconds: seconds(Date.now() - began) });
    // The other one stays as it was.
    expect(await tracesOf(rig, CONTROL)).toEqual({ services: 1, providers: 1, agents: 2, chassis: 1 });
    expect(await computesUp(rig)).toEqual([CONTROL]);
  });
});

/** The pod of Open vSwitch on a node. */
function switchOn(rig: Rig, node: string): string {
  const selector = ["-l", "openstack.causeway.dev/component=openvswitch", "--field-selector", `spec.nodeName=${node}`];
  const { items } = rig.get<{ items: { metadata: { name: string; deletionTimestamp?: string } }[] }>(
    "pods",
    ...selector,
  );
  return items.find(({ metadata }) => metadata.deletionTimestamp === undefined)?.metadata.name ?? "";
}

/** Flows of the bridge of all servers, without what counts. */
async function flowsOf(rig: Rig, pod: string): Promise<string[]> {
  const dump = ["ovs-ofctl", "-O", "OpenFlow15", "dump-flows", "--no-stats", "--no-names", "br-int"];
  const text = await rig.inContainer(pod, "openvswitch", ...dump);
  return text.split("\n").filter((line) => line.includes("actions="));
}

/** Those of a port that was just plugged, once no more are written. */
async function settledFlows(rig: Rig, pod: string): Promise<string[]> {
  let [last, same] = [await flowsOf(rig, pod), 0];
  return eventually(PATIENCE, async () => {
    const now = await flowsOf(rig, pod);
    same = now.length === last.length && now.length > PLUGGED ? same + 1 : 0;
    last = now;
    return same >= SETTLED && now;
  });
}

/** While flows are restored nothing is forwarded. */
async function isForwarding(rig: Rig, pod: string): Promise<boolean> {
  const config = await rig.inContainer(pod, "openvswitch", "ovs-vsctl", "get", "Open_vSwitch", ".", "other_config");
  return !config.includes("flow-restore-wait");
}
