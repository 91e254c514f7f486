/**
 * The whole migration of a cluster of Magnum's Heat driver, with masters and a hosted control plane of real programs,
 * by commands that are killed.
 */
import { MagnumCluster, Machine } from "@causeway/api";
import { Node } from "@causeway/kubernetes";
import { discoverCluster, readRecord } from "@causeway/magnum-migration";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { killed, programsFolder, serviceAccountToken, startCase, userOf, type Case } from "./magnum-migration/case.ts";
import { UUID } from "./magnum-migration/names.ts";
import { startWriter } from "./magnum-migration/writer.ts";
import { startWorkload } from "./magnum-migration/workload.ts";

const dir = programsFolder();

describe.skipIf(dir === undefined)("a cluster of Heat with 3 masters and 5 workers in 2 node groups", () => {
  let stage: Case;
  /** Of a service account, made before anything was migrated. */
  let token = "";
  beforeAll(async () => {
    stage = await startCase(dir ?? "");
  });
  afterAll(() => stage?.stop());

  test("is discovered whole by GET requests alone", async () => {
    const before = stage.simulator.calls.length;
    const inventory = await discoverCluster(
      { cloud: stage.cloud, management: undefined, now: Date.now() },
      "web",
      AbortSignal.timeout(60_000),
    );
    const writes = stage.simulator.calls
      .slice(before)
      .filter(({ method, service }) => method !== "GET" && service !== "identity");
    expect(writes.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect(inventory.findings).toEqual([]);
    expect(inventory.masters.map(({ address }) => address)).toEqual(stage.heat.masters);
    expect(inventory.groups.map(({ name, machines }) => `${name} ${machines.length}`)).toEqual([
      "default-worker 3",
      "big 2",
    ]);
    expect(inventory.api?.members).toHaveLength(3);
  });

  test("is discovered and recorded by commands that are killed at any request", { timeout: 300_000 }, async () => {
    // The first requests are those of Keystone; the last are followed by writes to the management cluster.
    for (const requests of [1, 6, 20, 40]) {
      const end = stage.simulator.calls.length + requests;
      await stage.command("discover", { killWhen: () => stage.simulator.calls.length >= end });
    }
    const ended = await stage.command("discover");
    expect(`${ended.code} ${ended.stderr}`).toBe("0 ");
    expect(ended.stdout).toContain("It can be migrated.");
    const { inventory, phases } = await readRecord(stage.management, UUID, AbortSignal.timeout(60_000));
    expect([inventory.masters.length, Object.keys(phases)]).toEqual([3, ["discover"]]);
    const { items } = await stage.management.list(MagnumCluster, {});
    expect(items.map(({ spec }) => spec.uuid)).toEqual([UUID]);
  });

  test("is not frozen while Magnum accepts changes of it", async () => {
    await expect(stage.run("freeze")).rejects.toMatchObject({ code: "MIGRATE_NOT_DENIED" });
    await stage.deny([UUID]);
    expect(await stage.run("freeze")).toContain("heat-container-agent is stopped on 8 machines");
    await expect(stage.run("switch")).rejects.toMatchObject({ code: "MIGRATE_ORDER" });
  });

  test("is switched and adopted by commands that are killed, without a lost write", { timeout: 400_000 }, async () => {
    const before = await stage.vitals();
    token = await serviceAccountToken(stage);
    const writer = startWriter(stage.source);
    for (const phase of ["freeze", "import", "switch", "adopt"] as const) await killed(stage, phase);
    const { written, lost, outage } = await writer.stop();
    console.log(`switch and adopt: ${written} writes, ${lost} lost, outage ${outage} ms`);
    expect(written).toBeGreaterThan(20);
    expect(lost).toBe(0);
    expect(outage).toBeLessThan(30_000);
    expect(await stage.vitals()).toEqual(before);
    expect(await userOf(stage, token)).toBe("system:serviceaccount:default:default");
    const cluster = await stage.management.list(MagnumCluster, {});
    expect(cluster.items.map(({ spec, status }) => `${spec.name} ${spec.uuid} ${status?.status ?? ""}`)).toEqual([
      `web ${UUID} UPDATE_COMPLETE`,
    ]);
  });

  test("is rolled one machine at a time, while a workload keeps running", { timeout: 400_000 }, async () => {
    const workload = await startWorkload(stage.source, { replicas: 6, minAvailable: 5 });
    const writer = startWriter(stage.source, "rolled");
    await killed(stage, "roll");
    const { fewest, most } = await workload.stop();
    const { written, lost, outage } = await writer.stop();
    console.log(`roll: ${fewest} to ${most} pods ready; ${written} writes, ${lost} lost, outage ${outage} ms`);
    expect(fewest).toBeGreaterThanOrEqual(5);
    expect(lost).toBe(0);
    expect(outage).toBeLessThan(30_000);
    const old = new Set(stage.heat.workers.map(({ id }) => id));
    const { items } = await stage.management.list(Machine, {});
    const made = items.map(({ spec }) => spec.providerID?.split("/").at(-1) ?? "");
    expect(made).toHaveLength(5);
    expect(made.filter((id) => old.has(id))).toEqual([]);
    const { items: nodes } = await stage.source.list(Node, {});
    const ids = nodes.map(({ spec }) => spec?.providerID?.split("/").at(-1) ?? "");
    expect(ids.toSorted((a, b) => a.localeCompare(b))).toEqual(made.toSorted((a, b) => a.localeCompare(b)));
  });

  test("is retired, and what is kept is kept", { timeout: 400_000 }, async () => {
    const { cloud } = stage;
    const volume = await cloud.blockStorage.volumes.create({ name: "pvc-1", size: 1 });
    const balancers = async () =>
      (await cloud.loadBalancing.loadBalancers.all({})).map(({ id, vip_address }) => `${id} ${vip_address}`);
    const network = async () => [
      ...(await cloud.network.networks.all({})).map(({ id }) => id),
      ...(await cloud.network.routers.all({})).map(({ id }) => id),
      ...(await cloud.network.subnets.all({})).map(({ id }) => id),
    ];
    const { stacks } = (await readRecord(stage.management, UUID, AbortSignal.timeout(60_000))).inventory;
    const [networks, before] = [await network(), await balancers()];
    expect(await stage.old()).toEqual({ rows: [2, 4, 5], hasTrustee: true });
    const asked = await stage.command("retire");
    expect(`${asked.code} ${asked.stderr}`).toMatch(/^2 .*MIGRATE_NOT_CONFIRMED/s);
    const writer = startWriter(stage.source, "retired");
    const proof = await killed(stage, "retire", ["--yes"]);
    const { written, lost, outage } = await writer.stop();
    console.log(`retire: ${written} writes, ${lost} lost, outage ${outage} ms`);
    expect(lost).toBe(0);
    expect(outage).toBeLessThan(30_000);
    expect(proof).toContain("Heat has none of the 2 stacks");
    expect(proof).toContain("Magnum's database has no row");
    expect(await stage.old()).toEqual({ rows: [1, 1, 1], hasTrustee: false });
    expect(await network()).toEqual(networks);
    const vip = (await balancers()).find((line) => line.endsWith(` ${stage.heat.vip}`));
    expect(before).toContain(vip);
    expect((await cloud.blockStorage.volumes.all({})).map(({ id }) => id)).toContain(volume.id);
    expect(await cloud.compute.servers.all({})).toHaveLength(5);
    const { items } = await stage.management.list(MagnumCluster, {});
    expect(items.map(({ status }) => `${status?.status ?? ""} ${status?.health ?? ""}`)).toEqual([
      "UPDATE_COMPLETE HEALTHY",
    ]);
    expect(await userOf(stage, token)).toBe("system:serviceaccount:default:default");
    const left = await stage.vitals();
    for (const { id, name } of stacks) await cloud.orchestration.delete({ id, stack_name: name });
    expect(await stage.vitals()).toEqual(left);
    expect(await network()).toEqual(networks);
    const late = await stage.command("rollback");
    expect(`${late.code} ${late.stderr}`).toMatch(/^2 .*retire was begun.*MIGRATE_TOO_LATE/s);
  });
});
