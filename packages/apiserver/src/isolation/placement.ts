import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StateFiles } from "../clusters/state-files.ts";
import { isRecord, text } from "../json.ts";

/** "shared" serves several clusters, "own" serves one. */
export type WorkerClass = "shared" | "own";

/** Which worker serves which logical cluster. Names of workers are those of their folders. */
export interface Placement {
  readonly workers: Readonly<Record<string, WorkerClass>>;
  readonly clusters: Readonly<Record<string, string>>;
}

export const WORKERS = "workers";
const FILE = `${WORKERS}/placement.json`;
const VERSION = 1;

export const NOTHING_PLACED: Placement = { workers: {}, clusters: {} };

/**
 * Places a new cluster: in a worker of its own if its class asks for it; else in a new shared worker until there are `most` of them, then in the
 * shared worker that has the fewest clusters. A cluster that has a place keeps it.
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
  const worker = isNew ? nextName(placement) : fewest(placement, shared);
  return {
    workers: { ...placement.workers, [worker]: isNew ? wanted : "shared" },
    clusters: { ...placement.clusters, [cluster]: worker },
  };
}

/** Forgets a cluster, and its worker if that was its own. */
export function unplaced(placement: Placement, cluster: string): Placement {
  const { [cluster]: worker, ...clusters } = placement.clusters;
  if (worker === undefined || placement.workers[worker] !== "own") return { ...placement, clusters };
  const { [worker]: _own, ...workers } = placement.workers;
  return { workers, clusters };
}

/** The clusters of a worker, in the order of their names. */
export function clustersOf(placement: Placement, worker: string): readonly string[] {
  const all = Object.keys(placement.clusters).filter((cluster) => placement.clusters[cluster] === worker);
  return all.toSorted();
}

/** Names are numbers that are not used twice, as long as the highest is there. */
function nextName({ workers }: Placement): string {
  return String(Math.max(0, ...Object.keys(workers).map(Number)) + 1);
}

function fewest(placement: Placement, workers: readonly string[]): string {
  const sizes = workers.map((worker) => clustersOf(placement, worker).length);
  return workers[sizes.indexOf(Math.min(...sizes))] ?? nextName(placement);
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
  return { workers: Object.fromEntries(workers), clusters: Object.fromEntries(clusters) };
}

/** On disk when it returns. Throws STATE_WRITE_FAILED. */
export function writePlacement(files: StateFiles, placement: Placement): void {
  files.write(FILE, `${JSON.stringify({ version: VERSION, ...placement }, null, 1)}\n`);
}
