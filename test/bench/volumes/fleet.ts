import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { costOf, stop } from "../apiserver/subject.ts";
import type { Figures, Row } from "../load-balancer/rows.ts";
import { startCloud, type BenchCloud } from "./cloud.ts";
import { StorageCluster } from "./cluster.ts";
import { FLEET_CHILD } from "./fleet-child.ts";
import { launch, startPod, type Side } from "./processes.ts";
import type { Programs } from "./stage.ts";

const CLUSTERS = 100;
const SETTLE = 15_000;

export interface FleetOptions {
  readonly base: string;
  readonly programs: Programs;
  readonly sides: readonly Side[];
}

/**
 * Memory for 100 clusters, each with a claim that is attached: ours in one process; upstream's a driver with four
 * sidecars for each, of which one is measured.
 */
export async function fleet(options: FleetOptions): Promise<Row> {
  const { sides } = options;
  const ours = sides.includes("ours") ? await measure(options, "ours") : undefined;
  const one = sides.includes("upstream") ? await measure(options, "upstream") : undefined;
  const upstream = one && {
    ...one,
    memoryMiB: one.memoryMiB * CLUSTERS,
    cpuSeconds: one.cpuSeconds * CLUSTERS,
    calls: one.calls * CLUSTERS,
  };
  return {
    name: `memory of the fleet: ${CLUSTERS} clusters`,
    ...(ours ? { ours } : {}),
    ...(upstream ? { upstream } : {}),
    note: `upstream: one driver with its sidecars measured, times ${CLUSTERS}; seconds are those of one cluster; clusters of our API server`,
  };
}

async function measure({ base, programs }: FleetOptions, side: Side): Promise<Figures> {
  const files = mkdtempSync(join(base, `fleet-${side}-`));
  const cloud = await startCloud(files);
  const server = await startApiServer({ dir: join(files, "state") });
  const clusters: { readonly cluster: StorageCluster; readonly kubeconfig: string }[] = [];
  try {
    const nodes = await cloud.addServers(1);
    for (let i = 0; i < (side === "ours" ? CLUSTERS : 1); i += 1) {
      const kubeconfig = join(files, `cluster-${i}`);
      writeFileSync(kubeconfig, await (await server.ensureCluster(`tenant-${i}`)).kubeconfig(), { mode: 0o600 });
      const cluster = new StorageCluster(kubeconfig);
      clusters.push({ cluster, kubeconfig });
      await cluster.install(programs.crds);
      await cluster.addNodes(nodes);
    }
    const begun = performance.now();
    const kubeconfigs = clusters.map(({ kubeconfig }) => kubeconfig);
    const running = await start(side, { cloud, kubeconfigs, files, programs });
    for (const { cluster } of clusters) await cluster.addAttachedClaim("data", nodes[0]?.name ?? "");
    const seconds = (performance.now() - begun) / 1000 / clusters.length;
    await new Promise((done) => setTimeout(done, SETTLE));
    const calls = cloud.callsSince().length;
    const figures = { calls, byVerb: {}, seconds, ...costOf(running) };
    await running.stop();
    return figures;
  } finally {
    for (const { cluster } of clusters) await cluster.close();
    await server.close();
    await cloud.close();
    rmSync(files, { recursive: true, force: true });
  }
}

interface From {
  readonly cloud: BenchCloud;
  readonly kubeconfigs: readonly string[];
  readonly files: string;
  readonly programs: Programs;
}

async function start(side: Side, { cloud, kubeconfigs, files, programs }: From) {
  if (side === "ours") {
    const args = ["--max-semi-space-size=1", FLEET_CHILD, cloud.cloudsYaml, ...kubeconfigs];
    const child = launch(process.execPath, args, join(files, "ours.log"));
    process.once("exit", () => child.kill("SIGKILL"));
    return { processes: [child], stop: () => stop(child) };
  }
  const [kubeconfig = ""] = kubeconfigs;
  const { upstream, sidecars } = programs;
  const pod = await startPod({ side, cloudConf: cloud.cloudConf, kubeconfig, files, upstream, sidecars });
  return { processes: [pod.driver, ...pod.sidecars], stop: () => pod.stop() };
}
