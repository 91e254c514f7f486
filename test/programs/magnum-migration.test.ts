/** Clusters of Magnum's Heat driver become hosted ones: on the simulated cloud, with masters of real etcd and kube-apiserver, and a hosted control plane of real programs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MagnumCluster, Machine } from "@causeway/api";
import { Namespace, Node, Pod } from "@causeway/kubernetes";
import { discoverCluster, type RunnablePhase } from "@causeway/magnum-migration";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UUID } from "./magnum-migration/names.ts";
import { startStage, startWriter, type Stage } from "./magnum-migration/stage.ts";
import { playWorkers, type PlayedWorkers } from "./magnum-migration/workers.ts";
import { startWorkload } from "./magnum-migration/workload.ts";
import { programs } from "./programs.ts";

const needed = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

function folder(): string | undefined {
  const { kubernetes } = programs();
  return "dir" in kubernetes && needed.every((name) => existsSync(join(kubernetes.dir, name)))
    ? kubernetes.dir
    : undefined;
}

const dir = folder();
const signal = new AbortController().signal;
/** After how many printed steps each run of a command is killed. */
const kills = [1, 2, 3, 5, 8, 13, 21, 34];

/** Runs a phase by its command, which is killed and started again until it ends by itself. */
async function killed(stage: Stage, phase: RunnablePhase): Promise<string> {
  const plan = await stage.command(phase, { more: ["--dry-run"] });
  expect(`${plan.code} ${plan.stdout} ${plan.stderr}`).toMatch(/^0 would /);
  for (const [index, killAfter] of kills.entries()) {
    const ended = await stage.command(phase, { killAfter });
    if (ended.isKilled) continue;
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain("proof: ");
    console.log(`${phase}: killed ${index} times\n${ended.stdout}`);
    expect(index, "times that it was killed").toBeGreaterThan(0);
    return ended.stdout;
  }
  throw new Error(`${phase} does not end`);
}

/** The same for a phase without a command: it ends after each step, and is run again. */
async function killedHere(stage: Stage, phase: RunnablePhase): Promise<string> {
  for (;;) {
    const proof = await stage.run(phase, 1).catch((error: unknown) => {
      if (String(error).includes("killed")) return undefined;
      throw error;
    });
    if (proof !== undefined) return proof.join("\n");
  }
}

const discover = (stage: Stage) =>
  discoverCluster({ cloud: stage.cloud, management: stage.management, now: Date.now() }, "web", signal);

describe.skipIf(dir === undefined)("a cluster of Heat with 3 masters and 5 workers in 2 node groups", () => {
  let stage: Stage;
  let workers: PlayedWorkers;
  beforeAll(async () => {
    stage = await startStage(dir ?? "");
    workers = await playWorkers(stage.source, stage.simulator, stage.heat.workers);
  });
  afterAll(async () => {
    await workers?.stop();
    await stage?.close();
  });
  const vitalsOf = async () => {
    const pods = await stage.source.list(Pod, { namespace: "default" });
    const system = await stage.source.get(Namespace, { namespace: "", name: "kube-system" });
    return {
      system: system.metadata.uid,
      pods: pods.items.map(({ metadata }) => `${metadata.name} ${metadata.uid ?? ""}`).toSorted(),
    };
  };
  const serversOf = async () =>
    (await stage.cloud.compute.servers.all({})).map(({ id, name }) => `${name} ${id}`).toSorted();

  test("is discovered whole by GET requests alone", async () => {
    const before = stage.simulator.calls.length;
    const inventory = await discoverCluster(
      { cloud: stage.cloud, management: undefined, now: Date.now() },
      "web",
      signal,
    );
    const writes = stage.simulator.calls
      .slice(before)
      .filter(({ method, service }) => method !== "GET" && service !== "identity");
    expect(
      writes
        .map(({ method, path }) => `${method} ${path}`)
        .filter((line) => line.includes("/stacks") || line.includes("/clusters")),
    ).toEqual([]);
    expect(inventory.findings).toEqual([]);
    expect(inventory.masters.map(({ address }) => address)).toEqual(stage.heat.masters);
    expect(inventory.groups.map(({ name, machines }) => `${name} ${machines.length}`)).toEqual([
      "default-worker 3",
      "big 2",
    ]);
    expect(inventory.api?.members).toHaveLength(3);
    await discover(stage);
  });

  test("is not frozen while Magnum accepts changes of it", async () => {
    await expect(stage.run("freeze")).rejects.toMatchObject({ code: "MIGRATE_NOT_DENIED" });
    await stage.deny([UUID]);
    expect(await stage.run("freeze")).toContain("heat-container-agent is stopped on 8 machines");
    await expect(stage.run("switch")).rejects.toMatchObject({ code: "MIGRATE_ORDER" });
  });

  test.for<[RunnablePhase, readonly RunnablePhase[]]>([
    ["freeze", ["freeze"]],
    ["import", ["freeze", "import"]],
    ["switch", ["freeze", "import", "switch"]],
    ["adopt", ["freeze", "import", "switch", "adopt"]],
  ])("is rolled back from %s, with its pods and servers as before", { timeout: 300_000 }, async ([, run]) => {
    const [before, servers] = [await vitalsOf(), await serversOf()];
    await stage.run("rollback").catch(() => undefined);
    await discover(stage);
    for (const phase of run) await stage.run(phase);
    const proof = await stage.run("rollback");
    expect(proof).toContain("etcd has the masters' members alone, with all that was written");
    expect(await vitalsOf()).toEqual(before);
    expect(await serversOf()).toEqual(servers);
    expect(
      await stage.masters.run(stage.heat.masters[0] ?? "", ["sh", "-c", "systemctl is-active kube-apiserver"], signal),
    ).toBe("active\n");
    expect((await stage.management.list(MagnumCluster, {})).items).toEqual([]);
  });

  test("is switched and adopted by commands that are killed, without a lost write", { timeout: 400_000 }, async () => {
    const [before, servers] = [await vitalsOf(), await serversOf()];
    await discover(stage);
    const writer = startWriter(stage.source);
    for (const phase of ["freeze", "import", "switch", "adopt"] as const) await killed(stage, phase);
    const { written, lost, outage } = await writer.stop();
    console.log(`switch and adopt: ${written} writes, ${lost} lost, outage ${outage} ms`);
    expect(written).toBeGreaterThan(20);
    expect(lost).toBe(0);
    expect(outage).toBeLessThan(30_000);
    expect(await vitalsOf()).toEqual(before);
    expect(await serversOf()).toEqual(servers);
    const cluster = await stage.management.list(MagnumCluster, {});
    expect(cluster.items.map(({ spec, status }) => `${spec.name} ${spec.uuid} ${status?.status ?? ""}`)).toEqual([
      `web ${UUID} UPDATE_IN_PROGRESS`,
    ]);
  });

  test("is rolled one machine at a time, while a workload keeps running", { timeout: 400_000 }, async () => {
    const workload = await startWorkload(stage.source, { replicas: 6, minAvailable: 5 });
    const writer = startWriter(stage.source, "rolled");
    await killed(stage, "roll");
    const { fewest, most } = await workload.stop();
    const { written, lost } = await writer.stop();
    console.log(`roll: ${fewest} to ${most} pods ready; ${written} writes, ${lost} lost`);
    expect(fewest).toBeGreaterThanOrEqual(5);
    expect(lost).toBe(0);
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
    const [networks, before] = [await network(), await balancers()];
    expect(await stage.old()).toEqual({ rows: [2, 4, 5], hasTrustee: true });
    const writer = startWriter(stage.source, "retired");
    const proof = await killedHere(stage, "retire");
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
    expect(await serversOf()).toHaveLength(5);
    const { items } = await stage.management.list(MagnumCluster, {});
    expect(items.map(({ status }) => `${status?.status ?? ""} ${status?.health ?? ""}`)).toEqual([
      "UPDATE_COMPLETE HEALTHY",
    ]);
    await expect(stage.run("rollback")).rejects.toMatchObject({ code: "MIGRATE_TOO_LATE" });
  });
});

describe.skipIf(dir === undefined)("a cluster of Heat whose workers were replaced", () => {
  let stage: Stage;
  let workers: PlayedWorkers;
  beforeAll(async () => {
    stage = await startStage(dir ?? "");
    workers = await playWorkers(stage.source, stage.simulator, stage.heat.workers);
  });
  afterAll(async () => {
    await workers?.stop();
    await stage?.close();
  });

  test("is rolled back with its new nodes and all that was written", { timeout: 400_000 }, async () => {
    await stage.deny([UUID]);
    await discover(stage);
    const writer = startWriter(stage.source);
    for (const phase of ["freeze", "import", "switch", "adopt", "roll"] as const) await stage.run(phase);
    const proof = await stage.run("rollback");
    const { lost } = await writer.stop();
    expect(lost).toBe(0);
    expect(proof).toContain("etcd has the masters' members alone, with all that was written");
    expect(proof.filter((line) => line.includes("was made by roll"))).toHaveLength(5);
    expect((await stage.source.list(Node, {})).items).toHaveLength(5);
  });
});
