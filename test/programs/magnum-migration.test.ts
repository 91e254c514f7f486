/** Clusters of Magnum's Heat driver become hosted ones: on the simulated cloud, with masters of real etcd and kube-apiserver, and a hosted control plane of real programs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MagnumCluster } from "@causeway/api";
import { Namespace, Pod } from "@causeway/kubernetes";
import { discoverCluster, type RunnablePhase } from "@causeway/magnum-migration";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { playKubelets, startStage, startWriter, UUID, type Stage } from "./magnum-migration/stage.ts";
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

describe.skipIf(dir === undefined)("a cluster of Heat with 3 masters and 5 workers in 2 node groups", () => {
  let stage: Stage;
  let kubelets: { stop(): Promise<void> };
  beforeAll(async () => {
    stage = await startStage(dir ?? "");
    kubelets = await playKubelets(stage.source, stage.heat.workers);
  });
  afterAll(async () => {
    await kubelets?.stop();
    await stage?.close();
  });
  const now = Date.now();
  const vitalsOf = async () => {
    const pods = await stage.source.list(Pod, { namespace: "default" });
    const system = await stage.source.get(Namespace, { namespace: "", name: "kube-system" });
    return {
      system: system.metadata.uid,
      pods: pods.items.map(({ metadata }) => `${metadata.name} ${metadata.uid ?? ""}`).toSorted(),
    };
  };

  /** Runs a phase that is killed at each of its steps, and run again. */
  const killed = async (phase: RunnablePhase): Promise<void> => {
    for (let isDone = false; !isDone;)
      isDone = await stage.run(phase, 1).then(
        () => true,
        (error: unknown) => {
          if (String(error).includes("killed")) return false;
          throw error;
        },
      );
  };

  test("is discovered whole by GET requests alone", async () => {
    const before = stage.simulator.calls.length;
    const inventory = await discoverCluster({ cloud: stage.cloud, management: undefined, now }, "web", signal);
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
    await discoverCluster({ cloud: stage.cloud, management: stage.management, now }, "web", signal);
  });

  test("is not frozen while Magnum accepts changes of it", async () => {
    await expect(stage.run("freeze")).rejects.toMatchObject({ code: "MIGRATE_NOT_DENIED" });
    await stage.deny([UUID]);
    expect(await stage.run("freeze")).toContain("heat-container-agent is stopped on 8 machines");
    await expect(stage.run("switch")).rejects.toMatchObject({ code: "MIGRATE_ORDER" });
  });

  test("is switched without a lost write, and killed at each step, continues", { timeout: 400_000 }, async () => {
    const before = await vitalsOf();
    const writer = startWriter(stage.source);
    await killed("import");
    await killed("switch");
    const { written, lost, outage } = await writer.stop();
    console.log(`switch: ${written} writes, ${lost} lost, outage ${outage} ms`);
    expect(written).toBeGreaterThan(20);
    expect(lost).toBe(0);
    expect(outage).toBeLessThan(30_000);
    expect(await vitalsOf()).toEqual(before);
    const cluster = await stage.management.list(MagnumCluster, {});
    expect(cluster.items.map(({ spec }) => `${spec.name} ${spec.uuid}`)).toEqual([`web ${UUID}`]);
  });

  test("is rolled back with all that was written since", { timeout: 400_000 }, async () => {
    const before = await vitalsOf();
    const proof = await stage.run("rollback");
    expect(proof).toContain("etcd has the masters' members alone, with all that was written");
    expect(await vitalsOf()).toEqual(before);
    expect(
      await stage.masters.run(stage.heat.masters[0] ?? "", ["sh", "-c", "systemctl is-active kube-apiserver"], signal),
    ).toBe("active\n");
  });
});
