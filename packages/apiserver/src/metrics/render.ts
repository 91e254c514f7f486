import type { Cluster } from "../contract/cluster.ts";
import type { FlowControl } from "../flow/flow-control.ts";
import { qualified } from "../errors/status.ts";
import type { ClusterMetrics } from "../contract/cluster-metrics.ts";
import { processFamilies, stateFamilies } from "../contract/metric-families.ts";
import { processState } from "./process.ts";

/** All metrics of a cluster in Prometheus' text format, those of the store and the process as they are now. */
export async function renderMetrics(cluster: Cluster, flow: FlowControl): Promise<{ type: string; body: string }> {
  const { registry } = cluster.metrics;
  const families = stateFamilies(registry);
  flow.updateGauges();
  countObjects(cluster, families);
  // Of the process the other clusters are part too: a tenant learns nothing of it.
  if (cluster.name === "") tellProcess(cluster.metrics);
  tellLimits(cluster, families);
  for (const check of ["disk", "descriptors", "workers"] as const) {
    families.problems.set(cluster.problems.all.some((problem) => problem.check === check) ? 1 : 0, { check });
  }
  tellQueues(cluster.metrics);
  families.build.set(1, buildOf(cluster.version));
  return { type: registry.contentType, body: await registry.render() };
}

function tellLimits({ quota }: Cluster, families: StateFamilies): void {
  if (!quota) return;
  for (const resource of ["objects", "bytes"] as const) {
    const limit = quota.limits[resource];
    if (limit === undefined) continue;
    families.held.set(quota.held[resource], { resource });
    families.limits.set(limit, { resource });
  }
}

function tellQueues({ queues, work }: ClusterMetrics): void {
  for (const [name, queue] of queues) {
    const { adds, retries, exported } = queue;
    work.adds.increment({ name }, adds - exported.adds);
    work.retries.increment({ name }, retries - exported.retries);
    work.depth.set(queue.depth(), { name });
    queue.exported = { adds, retries };
  }
}

type StateFamilies = ReturnType<typeof stateFamilies>;

function countObjects({ name, store, catalog }: Cluster, families: StateFamilies): void {
  const usage = store.usage(name);
  const used = new Map(usage.map((u) => [u.resource, u]));
  const bytesOfAll = usage.reduce((sum, u) => sum + u.bytes, 0);
  families.size.set(bytesOfAll, { storage_cluster_id: "etcd-0" });
  for (const { group, plural, storage, verbs } of catalog.all()) {
    if (!verbs.includes("list") || storage !== `${group}/${plural}`) continue;
    const { objects = 0, bytes = 0 } = used.get(storage) ?? {};
    families.objects.set(objects, { resource: qualified({ group, plural }) });
    families.resourceObjects.set(objects, { group, resource: plural });
    families.resourceBytes.set(bytes, { group, resource: plural });
  }
}

function tellProcess(metrics: ClusterMetrics): void {
  const families = processFamilies(metrics.registry);
  const state = processState();
  families.cpu.increment({}, Math.max(0, state.cpuSeconds - metrics.cpuSecondsTold));
  metrics.cpuSecondsTold = state.cpuSeconds;
  families.resident.set(state.residentBytes);
  families.started.set(state.startedAt);
  families.heapUsed.set(state.heapUsed);
  families.heapTotal.set(state.heapTotal);
  families.external.set(state.external);
  families.loop.set(state.loopUtilization);
  if (state.virtualBytes !== undefined) families.virtual.set(state.virtualBytes);
  if (state.openFiles !== undefined) families.openFiles.set(state.openFiles);
  if (state.mostFiles !== undefined) families.mostFiles.set(state.mostFiles);
}

function buildOf(version: string): Record<string, string> {
  const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const platform = `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`;
  const source = { git_version: version, git_commit: "", git_tree_state: "clean", build_date: "1970-01-01T00:00:00Z" };
  return { major, minor, ...source, platform };
}
