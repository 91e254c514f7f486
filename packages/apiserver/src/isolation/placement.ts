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
  readonly capacity?: number;
}

/** What is known of the shared workers at the moment. */
export interface SharedWorkers {
  /** So many are started before clusters share one. */
  readonly initial: number;
  /** Further ones are started up to so many. Default: any number. */
  readonly largest?: number;
  /** Those near their limit of memory, or that cannot open their state: no cluster is added to them. */
  readonly closed?: ReadonlySet<string>;
  /** Those that do not serve at the moment: others come first, and no further one is started in their place. */
  readonly failing?: ReadonlySet<string>;
}

/**
 * MiB of a worker's limits for each cluster that has controllers. One with three nodes takes 5.5 MiB, 2.7 of them heap
 * (`npm run bench -- clusters`); the rest is for the program, for garbage, and for clusters that grow.
 */
const MIB_PER_CLUSTER = { heap: 7, resident: 12 } as const;

/** What a cluster with these options requests. Without controllers few objects are in it, and any number fits. */
export function requestOf(
  { worker = "shared", controllers = false }: { readonly worker?: WorkerClass; readonly controllers?: boolean },
  { heap, resident }: Pick<Limits, "heap" | "resident">,
  capacity = Math.floor(Math.min(heap / MIB_PER_CLUSTER.heap, resident / MIB_PER_CLUSTER.resident)),
): PlacementRequest {
  return controllers ? { wanted: worker, capacity: Math.max(1, capacity) } : { wanted: worker };
}

/**
 * MiB of resident memory from which a worker is near its limits: as much as its heap may have, since part of it is not
 * heap, or four fifths of the limit.
 */
export function nearLimitAt({ heap, resident }: Pick<Limits, "heap" | "resident">): number {
  return Math.min(heap, 0.8 * resident);
}

/**
 * Places a new cluster: in a worker of its own if its class requests it; else in a new shared worker until there are
 * `initial` of them, then in the one with the fewest clusters of those that can take it, and in a further one if none
 * can. Where no further one may be started, one that is full comes before one that takes none. A cluster that has a
 * place keeps it.
 */
export function placed(
  placement: Placement,
  cluster: string,
  { wanted, capacity = Infinity }: PlacementRequest,
  { initial, largest = Infinity, closed = new Set(), failing = new Set() }: SharedWorkers,
): Placement {
  // A cluster may be called "constructor".
  if (Object.hasOwn(placement.clusters, cluster)) return placement;
  const sizes = sizesOf(placement);
  const shared = sharedOf(placement).toSorted((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0));
  const open = shared.filter((worker) => !closed.has(worker));
  const possible = open.filter((worker) => (sizes.get(worker) ?? 0) < capacity);
  const serves = (worker: string): boolean => !failing.has(worker);
  const place = possible.find(serves) ?? possible[0];
  const mayStart = shared.length < initial || (place === undefined && shared.length < largest);
  const found =
    wanted === "own" || mayStart ? undefined : (place ?? open.find(serves) ?? shared.find(serves) ?? shared[0]);
  const worker = found ?? String(placement.next);
  return {
    ...placement,
    next: found === undefined ? placement.next + 1 : placement.next,
    workers: { ...placement.workers, [worker]: found === undefined ? wanted : "shared" },
    clusters: { ...placement.clusters, [cluster]: worker },
  };
}

/**
 * Forgets a cluster, and its worker if that was its own. A shared worker without clusters goes, too, where `initial`
 * ones are left and another one has none: who creates and deletes one cluster again and again starts no worker each
 * time.
 */
export function unplaced(
  placement: Placement,
  cluster: string,
  { initial }: Pick<SharedWorkers, "initial">,
): Placement {
  const { [cluster]: worker, ...clusters } = placement.clusters;
  const rest = { ...placement, clusters };
  if (worker === undefined) return rest;
  const sizes = sizesOf(rest);
  const empty = sharedOf(rest).filter((name) => !sizes.has(name));
  const isSpare = empty.includes(worker) && empty.length > 1 && sharedOf(rest).length > initial;
  return rest.workers[worker] === "own" || isSpare ? withoutWorker(rest, worker) : rest;
}

/** Forgets a cluster whose worker cannot remove it, and the worker if no other cluster is there. */
export function abandoned(placement: Placement, cluster: string, workers: Pick<SharedWorkers, "initial">): Placement {
  const worker = placement.clusters[cluster];
  const rest = unplaced(placement, cluster, workers);
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
