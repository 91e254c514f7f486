import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StateFiles } from "../store/state-files.ts";
import { isRecord, text, texts } from "../json/json.ts";
import type { Limits } from "./messages.ts";

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

/** What decides where a new cluster is placed. */
export interface PlacementRequest {
  readonly wanted: WorkerClass;
  /** It is not added to a shared worker that has so many clusters. Default: any number fits. */
  readonly full?: number;
}

/**
 * MiB of a worker's limits for each cluster that has controllers. One with three nodes takes 5.5 MiB, 2.7 of them
 * heap (`npm run bench -- clusters`): the rest is for the program, garbage, and clusters that grow.
 */
const EACH = { heap: 7, resident: 12 } as const;

/** What a hosted cluster or an empty one wants: `controllers` make it one whose objects grow. */
export function requestOf(
  { worker = "shared", controllers = false }: { readonly worker?: WorkerClass; readonly controllers?: boolean },
  { heap, resident }: Pick<Limits, "heap" | "resident">,
): PlacementRequest {
  if (!controllers) return { wanted: worker };
  return { wanted: worker, full: Math.max(1, Math.floor(Math.min(heap / EACH.heap, resident / EACH.resident))) };
}

/** What is known of the shared workers at the moment. */
export interface Room {
  /** Shared workers that are started before clusters share one. */
  readonly most: number;
  /** Those that are short of memory: no cluster is added to them. */
  readonly crowded?: ReadonlySet<string>;
}

/**
 * Places a new cluster: in a worker of its own if its class asks for it; else in a new shared worker until there are
 * `most` of them, then in the one with the fewest clusters of those that have room, and in a further one if none has. A
 * cluster that has a place keeps it.
 */
export function placed(
  placement: Placement,
  cluster: string,
  { wanted, full = Infinity }: PlacementRequest,
  room: Room,
): Placement {
  // A cluster may be called "constructor".
  if (Object.hasOwn(placement.clusters, cluster)) return placement;
  const shared = sharedOf(placement);
  const sizes = sizesOf(placement);
  const size = (worker: string): number => sizes.get(worker) ?? 0;
  const [first, ...others] = shared.filter((worker) => size(worker) < full && room.crowded?.has(worker) !== true);
  const isNew = wanted === "own" || shared.length < room.most || first === undefined;
  const worker = isNew
    ? String(placement.next)
    : others.reduce((fewest, other) => (size(other) < size(fewest) ? other : fewest), first);
  return {
    ...placement,
    next: isNew ? placement.next + 1 : placement.next,
    workers: { ...placement.workers, [worker]: isNew ? wanted : "shared" },
    clusters: { ...placement.clusters, [cluster]: worker },
  };
}

/** Forgets a cluster, and its worker if that was its own, or has no other cluster and `most` are shared without it. */
export function unplaced(placement: Placement, cluster: string, { most }: Room): Placement {
  const { [cluster]: worker, ...clusters } = placement.clusters;
  const rest = { ...placement, clusters };
  if (worker === undefined) return rest;
  const isSpare = sharedOf(rest).length > most && !sizesOf(rest).has(worker);
  return rest.workers[worker] === "own" || isSpare ? withoutWorker(rest, worker) : rest;
}

/** Forgets a cluster whose worker cannot remove it, and the worker if no other cluster is there. */
export function abandoned(placement: Placement, cluster: string, room: Room): Placement {
  const worker = placement.clusters[cluster];
  const rest = unplaced(placement, cluster, room);
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

/** The workers that several clusters share. */
export function sharedOf({ workers }: Placement): readonly string[] {
  return Object.keys(workers).filter((worker) => workers[worker] === "shared");
}

/** How many clusters each worker has that has some. */
function sizesOf({ clusters }: Placement): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const worker of Object.values(clusters)) sizes.set(worker, (sizes.get(worker) ?? 0) + 1);
  return sizes;
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
