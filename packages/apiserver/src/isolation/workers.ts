import { join } from "node:path";
import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { StateFiles } from "../clusters/state-files.ts";
import type { ApiServerOptions, LogicalClusterOptions, WorkerStatus } from "../interface.ts";
import { STATE_FILE } from "../store/index.ts";
import { Brake, type Parked } from "./brake.ts";
import type { Diagnosis } from "./diagnosis.ts";
import type { ClusterInfo, Limits } from "./messages.ts";
import { clustersOf, placed, readPlacement, unplaced, writePlacement, NOTHING_PLACED, WORKERS } from "./placement.ts";
import { SupervisedWorker } from "./supervised-worker.ts";

export interface WorkersOptions extends Pick<ApiServerOptions, "encryption" | "history" | "connections"> {
  readonly dir: string;
  readonly host: string;
  readonly files: StateFiles;
  /** Shared workers at most. */
  readonly most: number;
  readonly limits: Limits;
  readonly program: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Hears that a cluster was parked, or is served again. */
  readonly changed: (cluster: string) => void;
}

/** All worker processes of a server: which serves which cluster, and what is done when one fails. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #workers = new Map<string, SupervisedWorker>();
  readonly #infos = new Map<string, ClusterInfo>();
  readonly #brake = new Brake();
  readonly #closing = new AbortController();
  #placement = NOTHING_PLACED;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#placement = readPlacement(options.files) ?? NOTHING_PLACED;
  }

  /** Starts the workers that have clusters; resolves when each has opened its clusters, or could not. */
  async start(): Promise<void> {
    const needed = new Set(Object.values(this.#placement.clusters));
    await Promise.allSettled([...needed].map((name) => this.#worker(name).opened()));
  }

  /** What is known of a cluster that was opened since the start. */
  info(cluster: string): ClusterInfo | undefined {
    return this.#infos.get(cluster);
  }

  parked(cluster: string): Parked | undefined {
    return this.#brake.parked(cluster, this.#options.clock.now());
  }

  get status(): readonly WorkerStatus[] {
    return [...this.#workers].map(([name, { pid, restarts, problem }]) => {
      return { name, pid, restarts, problem, clusters: clustersOf(this.#placement, name) };
    });
  }

  async ensure(cluster: string, options: LogicalClusterOptions): Promise<ClusterInfo> {
    this.#checkOpen();
    const parked = this.parked(cluster);
    if (parked) throw isParked(cluster, parked);
    const { most, host } = this.#options;
    this.#place(placed(this.#placement, cluster, { most, wanted: options.worker ?? "shared" }));
    const worker = this.#worker(this.#placement.clusters[cluster] ?? "");
    const listen = options.listen ?? { host, port: 0, names: [] };
    const info = await worker.call("ensure", cluster, { ...options, listen });
    this.#infos.set(cluster, info);
    return info;
  }

  /** Removes a cluster and all that is in it. Nothing to do is success. */
  async remove(cluster: string): Promise<void> {
    this.#checkOpen();
    const name = this.#placement.clusters[cluster];
    if (name === undefined) return;
    await this.#worker(name).call("remove", cluster);
    this.#infos.delete(cluster);
    this.#brake.forget(cluster);
    this.#place(unplaced(this.#placement, cluster));
    if (this.#placement.workers[name] !== undefined) return;
    const worker = this.#workers.get(name);
    this.#workers.delete(name);
    await worker?.close(GRACE);
    this.#options.files.remove(`${WORKERS}/${name}`);
  }

  async reload(): Promise<void> {
    for (const worker of this.#workers.values()) {
      for (const info of await worker.call("reload")) this.#infos.set(info.name, info);
    }
  }

  /** Copies the database of each worker, as of one moment, to a file of `name`; answers what goes where in the state folder. */
  async snapshots(
    name: (worker: string) => string,
  ): Promise<readonly { readonly name: string; readonly path: string }[]> {
    const needed = [...new Set(Object.values(this.#placement.clusters))];
    return Promise.all(
      needed.map(async (worker) => {
        const path = name(worker);
        await this.#worker(worker).call("snapshot", path);
        return { name: `${WORKERS}/${worker}/${STATE_FILE}`, path };
      }),
    );
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
        host,
        limits,
        parked: this.#parkedOf(name),
        ...(encryption ? { encryption } : {}),
        ...(history === undefined ? {} : { history }),
        ...(connections ? { connections } : {}),
      }),
      opened: (clusters) => {
        for (const info of clusters) this.#infos.set(info.name, info);
      },
      failed: (diagnosis) => this.#failed(name, diagnosis),
    });
    this.#workers.set(name, worker);
    return worker;
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
      if (this.parked(cluster) || this.#placement.clusters[cluster] !== worker) return;
      for (const info of await this.#worker(worker).call("park", cluster, null)) this.#infos.set(info.name, info);
      log.info("a logical cluster is served again", { cluster });
      changed(cluster);
    } catch (error) {
      if (!this.#closing.signal.aborted)
        log.error("a logical cluster is still not served", { cluster, reason: messageOf(error) });
    }
  }

  #place(placement: typeof NOTHING_PLACED): void {
    if (placement === this.#placement) return;
    writePlacement(this.#options.files, placement);
    this.#placement = placement;
  }

  #checkOpen(): void {
    if (!this.#closing.signal.aborted) return;
    throw new CausewayError("APISERVER_CLOSED", "the API server is closed", { hint: "Start it again." });
  }
}

/** Milliseconds in which a worker closes by itself. */
const GRACE = 600;

function isParked(cluster: string, { until, reason }: Parked): CausewayError {
  const message = `the cluster ${cluster} is not served until ${new Date(until).toISOString()}: ${reason}`;
  return new CausewayError("APISERVER_CLUSTER_PARKED", message, {
    hint: "Wait, and find out what its users send; the log names the request.",
    details: { until },
  });
}
