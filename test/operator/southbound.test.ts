/** A southbound database of OVN that is lost, and written again by northd. */
import { DaemonSet, Deployment, Job } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const NORTH = "11111111-1111-4111-8111-111111111111";
const OTHER_NORTH = "22222222-2222-4222-8222-222222222222";
const FIRST = "33333333-3333-4333-8333-333333333333";
const SECOND = "44444444-4444-4444-8444-444444444444";

async function start(databases: { nb: string; sb: string }): Promise<OperatorWorld> {
  const w = (world = await OperatorWorld.start(1));
  w.saysOf = (component, container) =>
    container !== "prepare-data" ? undefined : { "ovn-nb": databases.nb, "ovn-sb": databases.sb }[component];
  return w;
}

const MARK = "openstack.causeway.dev/southbound-of";
const markOf = async (w: OperatorWorld, name: string): Promise<string | undefined> =>
  [...(await w.list(Deployment)), ...(await w.list(DaemonSet))].find(
    ({ metadata }) => metadata.name === `cloud-${name}`,
  )?.spec.template.metadata?.annotations?.[MARK];

const syncs = async (w: OperatorWorld): Promise<Job[]> =>
  (await w.list(Job)).filter(({ metadata }) => metadata.name.startsWith("cloud-ovn-sb-sync-"));

async function endJobs(w: OperatorWorld): Promise<void> {
  for (const pod of await w.pods())
    if (pod.metadata.name.startsWith("cloud-ovn-sb-sync-")) await w.deletePod(pod.metadata.name);
}

describe("OVN's southbound database", () => {
  test("is written again by northd before any node reads it, by operators that are killed", async () => {
    const databases = { nb: NORTH, sb: FIRST };
    const w = await start(databases);
    let kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    expect((await w.deployment()).status?.southbound).toEqual({ database: FIRST });
    expect(await w.condition("SouthboundRebuilt")).toBeUndefined();

    databases.sb = SECOND;
    let held = true;
    w.fateOf = (component) => (component === "ovn-sb-sync" && held ? "hangs" : "runs");
    await w.deletePod("cloud-ovn-sb-0");
    for (let seen = w.writes.length; (await syncs(w)).length === 0;) {
      await w.glance(1_000);
      if (w.writes.length < seen + 2) continue;
      seen = w.writes.length;
      await kill();
      kill = w.runOperator();
    }
    await w.settle();
    const status = async () => (await w.deployment()).status;
    expect((await status())?.southbound).toEqual({ database: FIRST, rebuilding: SECOND });
    expect((await status())?.northbound).toEqual({ database: NORTH });
    expect(await w.condition("SouthboundRebuilt")).toMatchObject({ status: "False", reason: "DatabaseLost" });
    expect(await w.events()).toContainEqual(expect.stringMatching(/^SouthboundLost: .*from the northbound one/));
    // northd writes it: nodes keep their flows meanwhile, and Neutron its gateways.
    expect(await markOf(w, "ovn-northd")).toBe(SECOND);
    for (const name of ["ovn-controller-compute", "ovn-controller-control", "neutron-server"])
      expect(await markOf(w, name), name).toBeUndefined();
    expect((await w.component("ovn-controller"))?.step).toContain("its change waits for ovn-sb-sync");
    expect((await w.component("neutron-server"))?.step).toContain("its change waits for ovn-controller");

    held = false;
    await endJobs(w);
    await w.whenReady();
    await w.settle();
    expect((await status())?.southbound).toEqual({ database: SECOND, rebuiltAt: expect.stringMatching(/^2026-/) });
    expect(await w.condition("SouthboundRebuilt")).toMatchObject({ status: "True", reason: "Rebuilt" });
    expect(await w.events()).toContainEqual(expect.stringContaining(`SouthboundRebuilt: all nodes read`));
    for (const name of ["ovn-controller-compute", "neutron-ovn-metadata-agent-compute", "neutron-server"])
      expect(await markOf(w, name), name).toBe(SECOND);
    expect(await syncs(w)).toEqual([]);

    const before = w.writes.length;
    await w.touchDeployment();
    await w.settle();
    expect(w.writes.slice(before)).toEqual([]);
  });

  test("is written again after the northbound one, when both are lost", async () => {
    const databases = { nb: NORTH, sb: FIRST };
    const w = await start(databases);
    w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    Object.assign(databases, { nb: OTHER_NORTH, sb: SECOND });
    w.started.length = 0;
    await w.deletePod("cloud-ovn-sb-0");
    await w.deletePod("cloud-ovn-nb-0");
    await w.until("both are rebuilt", async () => {
      const { northbound, southbound } = (await w.deployment()).status ?? {};
      return northbound?.rebuiltAt !== undefined && southbound?.rebuiltAt !== undefined;
    });
    await w.whenReady();
    const { northbound, southbound } = (await w.deployment()).status ?? {};
    expect([northbound?.database, southbound?.database]).toEqual([OTHER_NORTH, SECOND]);
    const at = (name: string) => w.started.indexOf(name);
    expect(at("neutron-ovn-sync")).toBeGreaterThan(-1);
    expect(at("neutron-ovn-sync")).toBeLessThan(at("ovn-sb-sync"));
    expect(at("ovn-sb-sync")).toBeLessThan(at("ovn-controller"));
  });
});
