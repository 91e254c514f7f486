/** A northbound database of OVN that is lost, and rebuilt from Neutron. */
import { ConfigMap, Deployment, Job, StatefulSet } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const FIRST = "11111111-1111-4111-8111-111111111111";
const SECOND = "22222222-2222-4222-8222-222222222222";

/** A world whose northbound members report this database. */
async function start(database: { current: string }): Promise<OperatorWorld> {
  const w = (world = await OperatorWorld.start(1));
  w.saysOf = (component, container) =>
    component === "ovn-nb" && container === "prepare-data" ? database.current : undefined;
  return w;
}

const markOf = async (w: OperatorWorld, name: string): Promise<string | undefined> =>
  (await w.list(Deployment)).find(({ metadata }) => metadata.name === `cloud-${name}`)?.spec.template.metadata
    ?.annotations?.["openstack.causeway.dev/northbound-of"];

const syncs = async (w: OperatorWorld): Promise<Job[]> =>
  (await w.list(Job)).filter(({ metadata }) => metadata.name.startsWith("cloud-neutron-ovn-sync-"));

describe("OVN's northbound database", () => {
  test("is rebuilt from Neutron when another one is in its place, before northd reads it, by operators that are killed", async () => {
    const database = { current: FIRST };
    const w = await start(database);
    let kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    expect((await w.deployment()).status?.northbound).toEqual({ database: FIRST });
    expect(await syncs(w)).toEqual([]);

    // A pod that starts again with its data changes nothing.
    await w.deletePod("cloud-ovn-nb-0");
    await w.settle();
    expect(await w.condition("NetworkRebuilt")).toBeUndefined();

    database.current = SECOND;
    w.started.length = 0;
    let held = true;
    w.fateOf = (component) => (component === "neutron-ovn-sync" && held ? "hangs" : "runs");
    await w.deletePod("cloud-ovn-nb-0");
    for (let seen = w.writes.length; (await syncs(w)).length === 0;) {
      await w.glance(1_000);
      if (w.writes.length < seen + 2) continue;
      seen = w.writes.length;
      await kill();
      kill = w.runOperator();
    }
    await w.settle();
    expect((await w.deployment()).status?.northbound).toEqual({ database: FIRST, rebuilding: SECOND });
    expect(await w.condition("NetworkRebuilt")).toMatchObject({ status: "False", reason: "DatabaseLost" });
    expect(await w.events()).toContainEqual(expect.stringMatching(/^NorthboundLost: .*rebuilt from Neutron/));
    // Neutron has started again, but not northd: it would empty the southbound database.
    expect(await markOf(w, "neutron-server")).toBe(SECOND);
    expect(await markOf(w, "ovn-northd")).toBeUndefined();
    expect((await w.component("ovn-northd"))?.step).toContain("its change waits for neutron-ovn-sync");

    // It is known without the pod that said it, too.
    database.current = "";
    await w.deletePod("cloud-ovn-nb-0");
    await w.settle();
    expect((await w.deployment()).status?.northbound).toEqual({ database: FIRST, rebuilding: SECOND });
    database.current = SECOND;
    held = false;
    for (const pod of await w.pods())
      if (pod.metadata.name.startsWith("cloud-neutron-ovn-sync-")) await w.deletePod(pod.metadata.name);
    await w.whenReady();
    await w.settle();
    const { status } = await w.deployment();
    expect(status?.northbound).toEqual({ database: SECOND, rebuiltAt: expect.stringMatching(/^2026-/) });
    expect(await w.condition("NetworkRebuilt")).toMatchObject({ status: "True", reason: "Rebuilt" });
    expect(await w.events()).toContainEqual(expect.stringContaining("NetworkRebuilt: Neutron's networks are in"));
    const at = (name: string) => w.started.indexOf(name);
    expect(at("neutron-server")).toBeLessThan(at("neutron-ovn-sync"));
    expect(at("neutron-ovn-sync")).toBeLessThan(at("ovn-northd"));
    expect(at("neutron-ovn-sync")).toBeGreaterThan(-1);
    expect(await markOf(w, "ovn-northd")).toBe(SECOND);
    expect(await syncs(w)).toEqual([]);

    const before = w.writes.length;
    await w.touchDeployment();
    await w.settle();
    expect(w.writes.slice(before)).toEqual([]);
  });

  test("is not lost as long as one member has it", async () => {
    const database = { current: FIRST };
    const w = await start(database);
    w.runOperator();
    await w.createDeployment({ size: "Small" });
    await w.whenReady();
    await w.settle();
    database.current = SECOND;
    await w.deletePod("cloud-ovn-nb-2");
    await w.settle();
    expect((await w.deployment()).status?.northbound).toEqual({ database: FIRST });
    expect(await syncs(w)).toEqual([]);
    expect(await w.condition("NorthboundUnique")).toMatchObject({ status: "False", reason: "SeveralDatabases" });
    database.current = FIRST;
    await w.deletePod("cloud-ovn-nb-2");
    await w.settle();
    expect(await w.condition("NorthboundUnique")).toMatchObject({ status: "True", reason: "OneDatabase" });
  });

  test("is reported as two where members with the lost one return, and its members are given what was known", async () => {
    const database = { current: FIRST };
    const w = await start(database);
    w.runOperator();
    await w.createDeployment({ size: "Small" });
    await w.whenReady();
    await w.settle();
    const known = async () =>
      (await w.list(ConfigMap)).find(({ metadata }) => metadata.name === "cloud-ovn-known")?.data;
    expect(await known()).toEqual({ nb: FIRST });
    const template = async () =>
      (await w.list(StatefulSet)).find(({ metadata }) => metadata.name === "cloud-ovn-nb")?.spec.template;
    const before = await template();
    const volumes = (before?.spec["volumes"] ?? []) as { name: string }[];
    const volume = volumes.find(({ name }) => name === "known");
    expect(volume).toMatchObject({ configMap: { name: "cloud-ovn-known", optional: true } });
    database.current = SECOND;
    for (const number of [0, 1, 2]) await w.deletePod(`cloud-ovn-nb-${number}`);
    await w.whenReady();
    await w.settle();
    expect((await w.deployment()).status?.northbound).toMatchObject({ database: SECOND });
    expect(await known()).toEqual({ nb: SECOND });
    // A member reads it when it has lost its disk: none was restarted for it.
    expect(await template()).toEqual(before);
    database.current = FIRST;
    for (const number of [1, 2]) await w.deletePod(`cloud-ovn-nb-${number}`);
    await w.settle();
    expect((await w.deployment()).status?.northbound).toMatchObject({ database: SECOND });
    expect(await w.condition("NorthboundUnique")).toMatchObject({ status: "False", reason: "SeveralDatabases" });
  });
});
