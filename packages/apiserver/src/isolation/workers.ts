import { join } from "node:path";
import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { StateFiles } from "../store/state-files.ts";
import type { ApiServerOptions, LogicalClusterOptions, WorkerStatus } from "../interface.ts";
import { STATE_FILE } from "../store/index.ts";
import { Brake } from "./brake.ts";
import type { Parked } from "../contract/parked.ts";
import type { Diagnosis } from "./diagnosis.ts";
import type { ClusterChange, Limits } from "./messages.ts";
import type { ClusterInfo } from "../contract/cluster-info.ts";
import {
  abandoned,
  clustersOf,
  leftovers,
  NOTHING_PLACED,
  placed,
  readPlacement,
  sharedOf,
  swept,
  unplaced,
  requestOf,
  WORKERS,
  writePlacement,
  type Placement,
  type PlacementRequest,
  type SharedWorkers,
} from "./placement.ts";
import { Serial } from "./serial.ts";
import { isRenewable } from "./surplus.ts";
import { SupervisedWorker } from "./supervised-worker.ts";
import { isBroken } from "./worker-log.ts";

/** What the worker processes of a server share. */
export interface WorkersOptions extends Pick<ApiServerOptions, "encryption" | "history" | "connections"> {
  readonly dir: string;
  readonly host: string;
  readonly files: StateFiles;
  /** Shared workers that are started before clusters share one, and of which no more are started. */
  readonly initial: number;
  readonly largest: number;
  /** Clusters with controllers in a shared worker. Default: as many as its limits have room for. */
  readonly capacity?: number;
  readonly limits: Limits;
  readonly program: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Hears that a cluster was parked, cannot be opened, or is served again. */
  readonly changed: (cluster: string) => void;
}

/** All worker processes of a server: which serves which cluster, and what is done when one fails. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #workers = new Map<string, SupervisedWorker>();
  readonly #infos = new Map<string, ClusterInfo>();
  /** Why clusters could not be opened. */
  readonly #problems = new Map<string, string>();
  readonly #brake = new Brake();
  /** A cluster is made, removed and unparked one after the other. */
  readonly #serial = new Serial();
  readonly #closing = new AbortController();
  #placement: Placement;
  /** When a cluster was last added to or removed from a worker, since the start. */
  readonly #placedAt = new Map<string, number>();
  #warnedAt = -Infinity;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#placement = readPlacement(options.files) ?? NOTHING_PLACED;
  }

  /** Starts the workers that have clusters; resolves when each has opened its clusters, or could not. */
  async start(): Promise<void> {
    const { files, log } = this.#options;
    for (const folder of leftovers(this.#placement, files.names(WORKERS))) {
      log.info("the state folder of a removed worker was left over, and is removed", { worker: folder });
      files.remove(`${WORKERS}/${folder}`);
    }
    const needed = new Set(Object.values(this.#placement.clusters));
    await Promise.allSettled([...needed].map((name) => this.#worker(name).opened()));
  }

  /** What is known of a cluster that was opened since the start. */
  info(cluster: string): ClusterInfo | undefined {
    return this.#infos.get(cluster);
  }

  /** Why a cluster that has a place is not served; undefined while it is, as far as its worker reported. */
  problem(cluster: string): string | undefined {
    const worker = this.#placement.clusters[cluster];
    return this.#problems.get(cluster) ?? (worker === undefined ? undefined : this.#workers.get(worker)?.refusal);
  }

  parked(cluster: string): Parked | undefined {
    return this.#brake.parked(cluster, this.#options.clock.now());
  }

  get status(): readonly WorkerStatus[] {
    return [...this.#workers].map(([name, { pid, restarts, problem }]) => {
      return { name, pid, restarts, problem, clusters: clustersOf(this.#placement, name) };
    });
  }

  get #shared(): SharedWorkers {
    const { initial, largest } = this.#options;
    const those = (test: (worker: SupervisedWorker) => boolean): ReadonlySet<string> =>
      new Set([...this.#workers].filter(([, worker]) => test(worker)).map(([name]) => name));
    return {
      initial,
      largest,
      closed: those(({ isNearLimit, refusal }) => isNearLimit || refusal !== undefined),
      failing: those(({ problem }) => problem !== undefined),
    };
  }

  ensure(cluster: string, options: LogicalClusterOptions): Promise<ClusterInfo> {
    return this.#serial.run(cluster, () => this.#ensure(cluster, options));
  }

  async #ensure(cluster: string, options: LogicalClusterOptions): Promise<ClusterInfo> {
    this.#checkOpen();
    const parked = this.parked(cluster);
    if (parked) throw isParked(cluster, parked);
    const { host } = this.#options;
    const name = this.#placeOf(cluster, options);
    const worker = this.#worker(name);
    const listen = options.listen ?? { host, port: 0, names: [] };
    const info = await worker.call("ensure", cluster, { ...options, listen });
    this.#place(swept(this.#placement, name));
    this.#served(info);
    return info;
  }

  /** The worker of a cluster, which is placed if it is new. */
  #placeOf(cluster: string, options: LogicalClusterOptions): string {
    const before = this.#placement;
    if (!Object.hasOwn(before.clusters, cluster)) {
      const request = requestOf(options, this.#options.limits, this.#options.capacity);
      const shared = this.#shared;
      this.#place(placed(before, cluster, request, shared));
      this.#logPlace(before, cluster, { ...shared, ...request });
    }
    const name = this.#placement.clusters[cluster] ?? "";
    if (this.#placement !== before) this.#placedAt.set(name, this.#options.clock.now());
    return name;
  }

  /** What is not as usual: a further shared worker, or that there may be none (once in ten minutes). */
  #logPlace(before: Placement, cluster: string, from: SharedWorkers & PlacementRequest): void {
    const { initial, largest = Infinity, capacity = Infinity, closed } = from;
    const { clock, log } = this.#options;
    const worker = this.#placement.clusters[cluster] ?? "";
    const shared = sharedOf(before).length;
    if (this.#placement.workers[worker] === "own" || shared < initial) return;
    const about = { worker, cluster, shared };
    const isNew = before.workers[worker] === undefined;
    if (isNew)
      log.info("a further worker process is started: those that clusters share are full or near their limit", about);
    const isOver = clustersOf(before, worker).length >= capacity || closed?.has(worker) === true;
    if (isNew || shared < largest || !isOver || clock.now() - this.#warnedAt < WARNING) return;
    this.#warnedAt = clock.now();
    log.warn(
      "a cluster is added to a worker process that is full or near its limit: the host has no memory for a further one",
      about,
    );
  }

  /** Removes a cluster and all that is in it. Nothing to do is success. */
  remove(cluster: string): Promise<void> {
    return this.#serial.run(cluster, () => this.#remove(cluster));
  }

  async #remove(cluster: string): Promise<void> {
    this.#checkOpen();
    const { files, log } = this.#options;
    const name = this.#placement.clusters[cluster];
    if (name === undefined) return;
    const worker = this.#worker(name);
    try {
      await worker.call("remove", cluster);
      this.#place(unplaced(this.#placement, cluster, this.#shared));
    } catch (error) {
      if (!isBroken(error)) throw error;
      const reason = messageOf(error);
      log.warn("a logical cluster was removed whose worker cannot open its database", {
        cluster,
        worker: name,
        reason,
      });
      this.#place(abandoned(this.#placement, cluster, this.#shared));
      files.remove(`${WORKERS}/${name}/clusters/${cluster}`);
    }
    this.#infos.delete(cluster);
    this.#problems.delete(cluster);
    this.#brake.forget(cluster);
    this.#placedAt.set(name, this.#options.clock.now());
    if (this.#placement.workers[name] !== undefined) return;
    this.#placedAt.delete(name);
    this.#workers.delete(name);
    await worker.close(GRACE);
    files.remove(`${WORKERS}/${name}`);
    log.info("a worker process without clusters was ended", { worker: name });
  }

  /**
   * A worker that cannot open its database reads its files when it can: it is logged, and does not keep the others from
   * reloading.
   */
  async reload(): Promise<void> {
    const workers = [...this.#workers];
    const reloads = await Promise.allSettled(workers.map(([, worker]) => worker.call("reload")));
    for (const reload of reloads) if (reload.status === "fulfilled") reload.value.forEach((info) => this.#served(info));
    const failed = reloads.flatMap((reload, i) =>
      reload.status === "rejected" ? [{ worker: workers[i]?.[0], error: reload.reason as unknown }] : [],
    );
    for (const { worker, error } of failed.filter((f) => isBroken(f.error))) {
      this.#options.log.error("a worker process could not reload", { worker, reason: messageOf(error) });
    }
    const refused = failed.find(({ worker, error }) => !isBroken(error) && !this.#isGone(worker));
    if (refused) throw refused.error;
  }

  /**
   * Copies the database of each worker, as of one moment, to a file of `name`; returns what goes where in the state
   * folder, and the clusters whose database cannot be read.
   */
  async snapshots(name: (worker: string) => string): Promise<Snapshots> {
    const missing: string[] = [];
    const needed = [...new Set(Object.values(this.#placement.clusters))];
    // All of them end before the first error is thrown: none writes a copy that is removed.
    const taken = await Promise.allSettled(
      needed.map(async (worker) => {
        const path = name(worker);
        try {
          await this.#worker(worker).call("snapshot", path);
        } catch (error) {
          // Its last cluster was removed meanwhile.
          if (this.#isGone(worker)) return [];
          if (!isBroken(error)) throw error;
          const clusters = clustersOf(this.#placement, worker);
          const reason = messageOf(error);
          this.#options.log.error("the backup lacks the objects of logical clusters", { worker, clusters, reason });
          missing.push(...clusters);
          return [];
        }
        return [{ name: `${WORKERS}/${worker}/${STATE_FILE}`, path }];
      }),
    );
    const sources = taken.flatMap((copy) => {
      if (copy.status === "rejected") throw copy.reason;
      return copy.value;
    });
    return { sources, missing: missing.toSorted() };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(GRACE)));
    this.#workers.clear();
  }

  #worker(name: string): SupervisedWorker {
    const known = this.#workers.get(name);
    if (known) return known;
    const { dir, host, encryption, history, connections, limits, program, clock, log } = this.#options;
    const worker = new SupervisedWorker({
      name,
      program,
      limits,
      clock,
      log,
      options: () => ({
        dir: join(dir, WORKERS, name),
        around: join(dir, WORKERS),
        host,
        limits,
        parked: this.#parkedOf(name),
        removed: this.#placement.removed[name] ?? [],
        ...(encryption ? { encryption } : {}),
        ...(history === undefined ? {} : { history }),
        ...(connections ? { connections } : {}),
      }),
      opened: (clusters, wasRefused) => this.#opened(name, clusters, wasRefused),
      changed: (change) => this.#changed(change),
      refused: () => clustersOf(this.#placement, name).forEach((cluster) => this.#options.changed(cluster)),
      failed: (diagnosis) => this.#failed(name, diagnosis),
      isRenewable: () => this.#isRenewable(name),
    });
    this.#workers.set(name, worker);
    return worker;
  }

  #isRenewable(worker: string): boolean {
    const quiet = this.#options.clock.now() - (this.#placedAt.get(worker) ?? -Infinity);
    return isRenewable(clustersOf(this.#placement, worker).length, quiet);
  }

  #isGone(worker: string | undefined): boolean {
    return worker === undefined || this.#placement.workers[worker] === undefined;
  }

  #opened(worker: string, clusters: readonly ClusterInfo[], wasRefused: boolean): void {
    const changed = clusters.map(({ name }) => name).filter((name) => wasRefused || this.#problems.has(name));
    for (const info of clusters) this.#served(info);
    changed.forEach((name) => this.#options.changed(name));
    try {
      this.#place(swept(this.#placement, worker));
    } catch (error) {
      this.#options.log.error("the placement of clusters was not written", { worker, reason: messageOf(error) });
    }
  }

  #changed(change: ClusterChange): void {
    if (this.#placement.clusters[change.cluster] === undefined) return;
    if ("info" in change) this.#served(change.info);
    else this.#problems.set(change.cluster, change.problem);
    this.#options.changed(change.cluster);
  }

  #served(info: ClusterInfo): void {
    this.#infos.set(info.name, info);
    this.#problems.delete(info.name);
  }

  #parkedOf(worker: string): Record<string, Parked> {
    const parked = clustersOf(this.#placement, worker).map((cluster) => [cluster, this.parked(cluster)] as const);
    return Object.fromEntries(parked.filter((entry): entry is [string, Parked] => entry[1] !== undefined));
  }

  #failed(worker: string, { code, reason, cluster, request }: Diagnosis): void {
    const { clock, log } = this.#options;
    const clusters = clustersOf(this.#placement, worker);
    const fault = cluster ?? (clusters.length === 1 ? clusters[0] : undefined);
    if (fault === undefined || !clusters.includes(fault)) return;
    const parked = this.#brake.fault(fault, `its requests ended its worker process (${code}: ${reason})`, clock.now());
    if (!parked) return;
    const until = new Date(parked.until).toISOString();
    log.error("a logical cluster is not served for a time", {
      code: "APISERVER_CLUSTER_PARKED",
      cluster: fault,
      request,
      until,
    });
    this.#options.changed(fault);
    void this.#unpark(worker, fault, parked);
  }

  async #unpark(worker: string, cluster: string, { until }: Parked): Promise<void> {
    const { clock, log, changed } = this.#options;
    try {
      await clock.sleep(until - clock.now(), this.#closing.signal);
      const isPast = (): boolean => Boolean(this.parked(cluster)) || this.#placement.clusters[cluster] !== worker;
      if (isPast()) return;
      await this.#serial.run(cluster, async () => {
        if (isPast()) return;
        for (const info of await this.#worker(worker).call("park", cluster, null)) this.#served(info);
      });
      if (isPast()) return;
      log.info("a logical cluster is served again", { cluster });
      changed(cluster);
    } catch (error) {
      if (!this.#closing.signal.aborted)
        log.error("a logical cluster is still not served", { cluster, reason: messageOf(error) });
    }
  }

  #place(placement: Placement): void {
    if (placement === this.#placement) return;
    writePlacement(this.#options.files, placement);
    this.#placement = placement;
  }

  #checkOpen(): void {
    if (!this.#closing.signal.aborted) return;
    throw new CausewayError("APISERVER_CLOSED", "the API server is closed", {
      hint: "Start a new API server with the same state folder.",
    });
  }
}

/** Copies of the workers' databases, for a backup. */
export interface Snapshots {
  readonly sources: readonly { readonly name: string; readonly path: string }[];
  /** Logical clusters that are not in any of them. */
  readonly missing: readonly string[];
}

/** Milliseconds from one warning that no worker has room to the next. */
const WARNING = 600_000;

/** Milliseconds in which a worker closes by itself. */
const GRACE = 600;

function isParked(cluster: string, { until, reason }: Parked): CausewayError {
  const message = `the cluster ${cluster} is not served until ${new Date(until).toISOString()}: ${reason}`;
  return new CausewayError("APISERVER_CLUSTER_PARKED", message, {
    hint: "Wait, and check what its users send; the log names the request.",
    details: { until },
  });
}
