/**
 * A whole cloud of real processes: a first migration that is cut off, a compute process that is replaced while a server
 * moves, a replaced Open vSwitch, workers that hang, and a compute node that is lost and removed.
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { restarts, statusOf } from "./cloud.ts";
import { cutOffMigration, sql, tablesOf, tablesOfCells, type CutOff } from "./cut-off.ts";
import { record } from "./figures.ts";
import { flowsOf, plug, podOn, settledFlows } from "./flows.ts";
import { freezeOnce } from "./outage.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { bootServer, computesUp, liveMigrate, serverNow, tracesOf } from "./servers.ts";
import { COMPUTE, CONTROL, seconds, startWholeCloud, whenReady } from "./whole-cloud.ts";

/** Moves a server in five seconds, in steps. */
const SLOW = { section: "DEFAULT", option: "compute_driver", value: "fake.FakeLiveMigrateDriver" };
/** From silence to a new process: six questions of the kubelet, half a minute apart, and what it leaves the old one. */
const RESTART_SECONDS = 300;

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;
  let cut: CutOff | Error;
  let killed: CutOff | Error;

  beforeAll(async () => {
    ({ rig } = await startWholeCloud({ nova: [SLOW] }, async (starting) => {
      [cut, killed] = await Promise.all([
        cutOffMigration(starting, "nova-cell-sync", "Job").catch((error: Error) => error),
        cutOffMigration(starting, "neutron-db-sync", "container").catch((error: Error) => error),
      ]);
    }));
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("a first migration that is cut off begins again, and ends with the whole schema", async () => {
    if (cut instanceof Error) throw cut;
    record("the first migration of Nova is cut off", { tables: cut.tables });
    const [first = [], second = []] = await tablesOfCells(rig);
    expect(first.length).toBeGreaterThan(cut.tables);
    expect(second).toEqual(first);
    const steps = await sql(rig, "SELECT version_num FROM nova.alembic_version");
    expect(steps).toHaveLength(1);
    expect(await sql(rig, "SELECT version_num FROM nova_cell0.alembic_version")).toEqual(steps);
    // Another pod did it, without a second attempt.
    const restarted = Object.entries(restarts(rig)).filter(([name]) => name.includes("nova-cell-sync"));
    expect(restarted.map(([, count]) => count)).toEqual([0]);
    expect(restarted[0]?.[0]).not.toBe(cut.pod);
  });

  test("a first migration whose container alone is killed begins again in another pod", async () => {
    if (killed instanceof Error) throw killed;
    record("the container of Neutron's first migration is killed", { tables: killed.tables });
    expect((await tablesOf(rig, killed.database)).length).toBeGreaterThan(killed.tables);
    expect((await sql(rig, "SELECT version_num FROM neutron.alembic_version")).length).toBeGreaterThan(0);
    const pods = Object.entries(restarts(rig)).filter(([name]) => name.includes("neutron-db-sync"));
    expect(pods.map(([, count]) => count)).toEqual([0, 0]);
    expect(pods.map(([name]) => name)).toContain(killed.pod);
  });

  test("a compute process is replaced only after a server that moves has arrived", async () => {
    const server = await bootServer(rig, "moves", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    const pod = podOn(rig, "nova-compute", COMPUTE);
    await liveMigrate(rig, server.id, CONTROL);
    let now = await serverNow(rig, server.id);
    await eventually(
      TIMEOUT,
      async () => (now = await serverNow(rig, server.id)).status !== "ACTIVE" || now.host !== COMPUTE,
    );
    expect(now).toEqual({ status: "MIGRATING", host: COMPUTE });
    const began = Date.now();
    rig.kubectl("delete", "pod", pod, "--wait=true");
    record("nova-compute replaced while a server moves", { secondsToItsEnd: seconds(Date.now() - began) });
    // Its process ended after the migration: Nova has the server where it is, whole.
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
    await whenReady(rig);
    await eventually(TIMEOUT, async () => (await computesUp(rig)).includes(COMPUTE));
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
  });

  test("an Open vSwitch that is replaced has all its flows again before it forwards by them", async () => {
    const server = await bootServer(rig, "kept", CONTROL);
    expect(server.status).toBe("ACTIVE");
    const pod = podOn(rig, "openvswitch");
    await plug(rig, pod, server.port, "kept");
    const before = await settledFlows(rig, pod);
    expect(before.length).toBeGreaterThan(100);
    rig.kubectl("delete", "pod", pod, "--wait=false");
    const began = Date.now();
    const after = await eventually(TIMEOUT, async () => {
      const next = podOn(rig, "openvswitch");
      return next !== pod && (await isForwarding(rig, next)) ? await flowsOf(rig, next) : undefined;
    });
    const times = { seconds: seconds(Date.now() - began) };
    record("Open vSwitch replaced", { flows: before.length, flowsAfter: after.length, ...times });
    expect(before.filter((flow) => !after.includes(flow))).toEqual([]);
    await whenReady(rig);
  });

  test("processes that hang are restarted, and nothing else", async () => {
    const before = restarts(rig);
    const pods = ["nova-conductor", "neutron-ovn-metadata-agent"].map(
      (component) => [component, podOn(rig, component)] as const,
    );
    const began = Date.now();
    for (const [component, pod] of pods) await freezeOnce(rig, component, pod);
    const isAgain = (pod: string) => (restarts(rig)[pod] ?? 0) > (before[pod] ?? 0);
    const took = new Map<string, number>();
    await eventually(TIMEOUT, () => {
      for (const [component, pod] of pods)
        if (!took.has(component) && isAgain(pod)) took.set(component, seconds(Date.now() - began));
      return took.size === pods.length;
    });
    for (const [component, secondsToItsRestart] of took) record(`${component} that hangs`, { secondsToItsRestart });
    await whenReady(rig);
    expect(Math.max(...took.values())).toBeLessThan(RESTART_SECONDS);
    const again = Object.entries(restarts(rig)).filter(([name, count]) => count > (before[name] ?? 0));
    expect(again.map(([name]) => name).toSorted()).toEqual(pods.map(([, pod]) => pod).toSorted());
    expect((await bootServer(rig, "after-silence", CONTROL)).status).toBe("ACTIVE");
  });

  test("evacuates a compute node that is lost only after it is marked as switched off", async () => {
    const server = await bootServer(rig, "lost", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    await rig.machines[1]?.powerOff();
    const phase = () => statusOf(rig).maintenance?.find(({ node }) => node === COMPUTE)?.phase;
    await eventually(TIMEOUT, () => phase() === "Unreachable");
    expect((await serverNow(rig, server.id)).host).toBe(COMPUTE);
    const began = Date.now();
    rig.kubectl("taint", "node", COMPUTE, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
    await eventually(TIMEOUT, async () => {
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
    await eventually(TIMEOUT, async () => isDeepStrictEqual(await tracesOf(rig, COMPUTE), nothing));
    record("a removed compute node without a trace", { seconds: seconds(Date.now() - began) });
    // The other one remains as it was.
    expect(await tracesOf(rig, CONTROL)).toEqual({ services: 1, providers: 1, agents: 2, chassis: 1 });
    expect(await computesUp(rig)).toEqual([CONTROL]);
  });
});

/**
 * While flows are restored nothing is forwarded: that is set before the switch starts. What the pod before left of the
 * database does not respond.
 */
async function isForwarding(rig: Rig, pod: string): Promise<boolean> {
  const ask = "ovs-vsctl --timeout=2 get Open_vSwitch . other_config && ls /run/openvswitch/ovs-vswitchd.ctl";
  const said = await rig.inContainer(pod, "openvswitch", "sh", "-c", ask).catch(() => undefined);
  return said !== undefined && !said.includes("flow-restore-wait");
}
