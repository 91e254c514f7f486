import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { costOf } from "../apiserver/subject.ts";
import { startCloud } from "./cloud.ts";
import { clusterOf, type Cluster } from "./cluster.ts";
import { startOurs, startUpstreamController, type Side } from "./controllers.ts";
import type { Figures, Row } from "./rows.ts";

const CLUSTERS = 100;
/** Upstream processes that are measured. */
const FEW = 3;
const NODES = 3;
const SETTLE = 15_000;
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/**
 * Memory for 100 clusters, each with three nodes and a Service: ours in one process, the upstream's in one process for
 * each.
 */
export async function fleet(base: string, program: string, sides: readonly Side[]): Promise<Row> {
  const ours = sides.includes("ours") ? await measure(base, program, "ours") : undefined;
  const few = sides.includes("upstream") ? await measure(base, program, "upstream") : undefined;
  const times = CLUSTERS / FEW;
  const upstream = few && {
    ...few,
    memoryMiB: few.memoryMiB * times,
    cpuSeconds: few.cpuSeconds * times,
    calls: few.calls * times,
  };
  return {
    name: `memory of ${CLUSTERS} clusters`,
    ...(ours ? { ours } : {}),
    ...(upstream ? { upstream } : {}),
    note: `upstream: ${FEW} processes measured, scaled; clusters of our API server`,
  };
}

async function measure(base: string, program: string, side: Side): Promise<Figures> {
  const files = mkdtempSync(join(base, `fleet-${side}-`));
  const cloud = await startCloud({ name: "ovn", cycle: 0 }, files);
  const server = await startApiServer({ dir: join(files, "state") });
  const clusters: Cluster[] = [];
  try {
    const servers = await cloud.addServers(NODES);
    for (let i = 0; i < (side === "ours" ? CLUSTERS : FEW); i += 1) {
      const path = join(files, `cluster-${i}`);
      writeFileSync(path, await (await server.ensureCluster(`tenant-${i}`)).kubeconfig(), { mode: 0o600 });
      const cluster = await clusterOf(path);
      await cluster.addNodes(servers);
      await cluster.addServices(["web"], 2);
      clusters.push(cluster);
    }
    const begun = performance.now();
    const from = { cloud, files, kubeconfigs: clusters.map((c) => c.kubeconfig), program };
    const controller = await (side === "ours" ? startOurs(from) : startUpstreamController(from));
    for (const cluster of clusters) while ((await cluster.served()) === 0) await pause(200);
    const seconds = (performance.now() - begun) / 1000;
    await pause(SETTLE);
    const calls = cloud.callsSince().length;
    const figures = { calls, byVerb: {}, seconds, ...costOf(controller) };
    await controller.stop();
    return figures;
  } finally {
    for (const { client } of clusters) await client.close();
    await server.close();
    await cloud.close();
    rmSync(files, { recursive: true, force: true });
  }
}
