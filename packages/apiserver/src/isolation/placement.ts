import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StateFiles } from "../store/state-files.ts";
import { isRecord, text, texts } from "../json/json.ts";

/** "shared" serves several clusters, "own" serves one. */
export type WorkerClass = "shared" | "own";

/** Which worker serves which logical cluster. Names of workers are those of their folders. */
export interface Placement {
  readonly workers: Readonly<Record<string, WorkerClass>>;
  readonly clusters: Readonly<Record<string, string>>;
  /** The name of the next new worker: a name is never used twice, since a folder of that name may be left. */
  readonly next: number;
  /**
   * Clusters that were removed while their worker could not open its database: it removes them when it can, before it
   * serves.
   */
  readonly removed: Readonly<Record<string, readonly string[]>>;
}

/** The folder of the state folder in which each worker has its own. */
export const WORKERS = "workers";
const FILE = `${WORKERS}/placement.json`;
const VERSION = 1;

/** A server that has never had a cluster in a worker. */
export const NOTHING_PLACED: Placement = { workers: {}, clusters: {}, next: 1, removed: {} };

/**
 * Places a new cluster: in a worker of its own if its class asks for it; else in a new shared worker until there are
 * `most` of them, then in the shared worker that has the fewest clusters. A cluster that has a place keeps it.
 */
export function placed(
  placement: Placement,
  cluster: string,
  { most, wanted }: { readonly most: number; readonly wanted: WorkerClass },
): Placement {
  // A cluster may be called "constructor".
  if (Object.hasOwn(placement.clusters, cluster)) return placement;
  const shared = Object.keys(placement.workers).filter((worker) => placement.workers[worker] === "shared");
  const isNew = wanted === "own" || shared.length < most;
  const worker = isNew ? String(placement.next) : fewest(placement, shared);
  return {
    ...placement,
    next: isNew ? placement.next + 1 : placement.next,
    workers: { ...placement.workers, [worker]: isNew ? wanted : "shared" },
    clusters: { ...placement.clusters, [cluster]: worker },
  };
}

/** Forgets a cluster, and its worker if that was its own. */
export function unplaced(placement: Placement, cluster: string): Placement {
  const { [cluster]: worker, ...clusters } = placement.clusters;
  if (worker === undefined || placement.workers[worker] !== "own") return { ...placement, clusters };
  return withoutWorker({ ...placement, clusters }, worker);
}

/** Forgets a cluster whose worker cannot remove it, and the worker if no other cluster is there. */
export function abandoned(placement: Placement, cluster: string): Placement {
  const worker = placement.clusters[cluster];
  const rest = unplaced(placement, cluster);
  if (worker === undefined || rest.workers[worker] === undefined) return rest;
  if (clustersOf(rest, worker).length === 0) return withoutWorker(rest, worker);
  const removed = new Set([...(rest.removed[worker] ?? []), cluster]);
  return { ...rest, removed: { ...rest.removed, [worker]: [...removed] } };
}

/** Forgets which clusters a worker has to remove: it did. */
export function swept(placement: Placement, worker: string): Placement {
  const { [worker]: gone, ...removed } = placement.removed;
  return gone ? { ...placement, removed } : placement;
}

/** Of the names in the folder of workers, those of workers that were removed. */
export function leftovers({ workers, next }: Placement, names: readonly string[]): readonly string[] {
  return names.filter((name) => /^[1-9]\d*$/.test(name) && Number(name) < next && workers[name] === undefined);
}

function withoutWorker(placement: Placement, worker: string): Placement {
  const { [worker]: _gone, ...workers } = placement.workers;
  return swept({ ...placement, workers }, worker);
}

/** The clusters of a worker, in the order of their names. */
export function clustersOf(placement: Placement, worker: string): readonly string[] {
  const all = Object.keys(placement.clusters).filter((cluster) => placement.clusters[cluster] === worker);
  return all.toSorted();
}

function fewest(placement: Placement, workers: readonly string[]): string {
  const sizes = workers.map((worker) => clustersOf(placement, worker).length);
  return workers[sizes.indexOf(Math.min(...sizes))] ?? String(placement.next);
}

/** Whether logical clusters of a state folder were placed in workers: no server without workers may open it. */
export function isSplit(dir: string): boolean {
  return existsSync(join(dir, FILE));
}

/** The placement as the state folder has it; undefined if no cluster was ever placed. */
export function readPlacement(files: StateFiles): Placement | undefined {
  const kept = files.read(FILE);
  const parsed: unknown = kept === undefined ? undefined : JSON.parse(kept);
  if (!isRecord(parsed) || !isRecord(parsed["workers"]) || !isRecord(parsed["clusters"])) return undefined;
  const workers = Object.entries(parsed["workers"]).map(
    ([name, of]) => [name, of === "own" ? "own" : "shared"] as const,
  );
  const clusters = Object.entries(parsed["clusters"]).map(([name, worker]) => [name, text(worker)] as const);
  const removed = isRecord(parsed["removed"]) ? Object.entries(parsed["removed"]) : [];
  return {
    workers: Object.fromEntries(workers),
    clusters: Object.fromEntries(clusters),
    next: Math.max(Number(parsed["next"] ?? 1), ...workers.map(([name]) => Number(name) + 1)),
    removed: Object.fromEntries(removed.map(([worker, names]) => [worker, texts(names)])),
  };
}

/** On disk when it returns. Throws STATE_WRITE_FAILED. */
export function writePlacement(files: StateFiles, placement: Placement): void {
  files.write(FILE, `${JSON.stringify({ version: VERSION, ...placement }, null, 1)}\n`);
}
