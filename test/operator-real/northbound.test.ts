/**
 * A cloud of real processes whose northbound database is lost with its disk, and rebuilt from Neutron's; and its
 * southbound one, and rebuilt from that.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { podsOf, restarts, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { flowsOf, plug, podOn, settledFlows } from "./flows.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { addRouter, bootServer, serverNow } from "./servers.ts";
import { COMPUTE, CONTROL, restarted, seconds, startWholeCloud, whenReady } from "./whole-cloud.ts";

const POD = "cloud-ovn-nb-0";
const SOUTHBOUND_POD = "cloud-ovn-sb-0";
/** What Neutron writes of networks, without identities: those are others. */
const TABLES = [
  ["logical_switch", "name"],
  ["logical_switch_port", "name,type,addresses,port_security"],
  ["logical_router", "name"],
  ["logical_router_port", "name,networks,mac"],
  ["port_group", "name"],
  ["acl", "direction,priority,match,action"],
  ["dhcp_options", "cidr"],
] as const;

describe("OVN's databases on real processes", () => {
  let rig: Rig;

  beforeAll(async () => {
    ({ rig } = await startWholeCloud());
  });

  afterAll(async () => {
    await rig?.close();
  });

  /** Rows of each table, in an order that does not depend on their identities. */
  const networks = async (): Promise<Record<string, string[]>> => {
    const found: Record<string, string[]> = {};
    for (const [table, columns] of TABLES) {
      const list = ["ovn-nbctl", "--no-leader-only", "--format=csv", "--no-headings", `--columns=${columns}`, "list"];
      const text = await rig.inContainer(POD, "ovn-nb", ...list, table);
      found[table] = text
        .split("\n")
        .filter((line) => line !== "")
        .toSorted();
    }
    return found;
  };

  /** What Neutron's own program finds different between its database and OVN's, without times and processes. */
  const differences = async (): Promise<string[]> => {
    const program =
      "neutron-ovn-db-sync-util --config-dir /etc/neutron/neutron.conf.d --ovn-neutron_sync_mode log 2>&1";
    const [pod = ""] = podsOf(rig, "neutron-server");
    const said = await rig.inContainer(pod, "neutron-server", "sh", "-c", program);
    expect(said).toContain("Sync completed for Northbound db");
    return said
      .split("\n")
      .filter((line) => /"level(?:name)?": ?"(?:WARNING|ERROR|CRITICAL)"/.test(line) && line.includes("db_sync"))
      .map((line) => (JSON.parse(line) as { message: string }).message)
      .toSorted();
  };

  test("the northbound one is rebuilt from Neutron when its disk is lost, and Neutron's own program finds no difference", async () => {
    const first = await bootServer(rig, "first", COMPUTE);
    expect(first.status).toBe("ACTIVE");
    await addRouter(rig, first.network);
    const before = { networks: await networks(), differences: await differences() };
    for (const [table, rows] of Object.entries(before.networks)) expect(rows, table).not.toEqual([]);
    const { database } = statusOf(rig).northbound ?? {};
    expect(database).toMatch(/^[0-9a-f-]{36}$/);
    const started = restarts(rig);

    await rig.inContainer(POD, "ovn-nb", "sh", "-c", "rm -f /var/lib/ovn/*");
    const began = Date.now();
    rig.kubectl("delete", "pod", POD, "--grace-period=0", "--force");
    await eventually(TIMEOUT, () => statusOf(rig).northbound?.rebuilding !== undefined);
    record("the loss of OVN's northbound database is seen", { seconds: seconds(Date.now() - began) });
    await eventually(TIMEOUT, () => statusOf(rig).northbound?.rebuiltAt !== undefined);
    record("OVN's northbound database is rebuilt from Neutron", { seconds: seconds(Date.now() - began) });
    await whenReady(rig);
    expect(statusOf(rig).northbound?.database).not.toBe(database);
    expect(await networks()).toEqual(before.networks);
    expect(await differences()).toEqual(before.differences);
    expect(restarted(rig, started)).toEqual([]);
    expect(await serverNow(rig, first.id)).toEqual({ status: "ACTIVE", host: COMPUTE });
    for (const host of [COMPUTE, CONTROL])
      expect((await bootServer(rig, `second-${host}`, host)).status).toBe("ACTIVE");
  });

  /** One column of a table of the southbound database, in an order that does not depend on identities. */
  const southbound = async (table: string, column: string): Promise<string[]> => {
    const list = ["ovn-sbctl", "--no-leader-only", "--bare", `--columns=${column}`, "list", table];
    const text = await rig.inContainer(SOUTHBOUND_POD, "ovn-sb", ...list);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .toSorted();
  };
  const nodesAndPorts = async () => ({
    nodes: await southbound("chassis", "hostname"),
    ports: await southbound("port_binding", "logical_port"),
  });

  test("the southbound one is written again by northd when its disk is lost, and the switches keep their flows", async () => {
    const server = await bootServer(rig, "third", CONTROL);
    expect(server.status).toBe("ACTIVE");
    const switchPod = podOn(rig, "openvswitch");
    await plug(rig, switchPod, server.port, "third");
    const flows = (await settledFlows(rig, switchPod)).length;
    const before = await nodesAndPorts();
    expect(before.nodes).toEqual([CONTROL, COMPUTE]);
    expect(before.ports).toContain(server.port);
    const started = restarts(rig);

    await rig.inContainer(SOUTHBOUND_POD, "ovn-sb", "sh", "-c", "rm -f /var/lib/ovn/*");
    const began = Date.now();
    rig.kubectl("delete", "pod", SOUTHBOUND_POD, "--grace-period=0", "--force");
    let least = flows;
    await eventually(TIMEOUT, async () => {
      least = Math.min(least, (await flowsOf(rig, switchPod)).length);
      return statusOf(rig).southbound?.rebuiltAt !== undefined;
    });
    const times = { seconds: seconds(Date.now() - began) };
    record("OVN's southbound database is written again by northd", { ...times, flows, leastFlows: least });
    await whenReady(rig);
    expect(least).toBeGreaterThan(flows / 2);
    const after = (await settledFlows(rig, switchPod)).length;
    record("flows of the switch after that", { flows, flowsAfter: after });
    expect(Math.abs(after - flows)).toBeLessThan(flows / 20);
    expect(await nodesAndPorts()).toEqual(before);
    expect(restarted(rig, started)).toEqual([]);
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
    for (const host of [COMPUTE, CONTROL])
      expect((await bootServer(rig, `fourth-${host}`, host)).status).toBe("ACTIVE");
  });
});
