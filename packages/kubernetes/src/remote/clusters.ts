import { backoff, messageOf, silentLog, systemClock, whenAborted, type Clock, type Log } from "@causeway/foundation";
import type { Change, Informer, Informers, Unsubscribe } from "../cache/interface.ts";
import { idOf } from "../cache/store.ts";
import { loadKubeconfig } from "../config/kubeconfig.ts";
import type { Shards } from "../controller/interface.ts";
import { Secret } from "../types/core.ts";
import type { ObjectKey } from "../types/meta.ts";
import { Connection } from "./connection.ts";
import type { RemoteCluster, RemoteClusters } from "./interface.ts";

/** Where the kubeconfigs of other clusters are, and which of them are connected to. */
export interface RemoteClustersOptions {
  /** Of the management cluster. */
  readonly informers: Informers;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Connect to the clusters of these namespaces only. Default: all. */
  readonly shards?: Shards | undefined;
}

const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";
const SECRET_TYPE = "cluster.x-k8s.io/secret";
const SUFFIX = "-kubeconfig";

/**
 * Connections to the clusters whose kubeconfig Secrets (Cluster API contract: NAME-kubeconfig, type
 * cluster.x-k8s.io/secret, key `value`, label cluster.x-k8s.io/cluster-name) `informers` shows. Each cluster is
 * connected, watched over and connected again by itself.
 */
export function createRemoteClusters(options: RemoteClustersOptions): RemoteClusters {
  return new Clusters(options);
}

class Clusters implements RemoteClusters {
  readonly #secrets: Informer<Secret>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #shards: Shards | undefined;
  readonly #links = new Map<string, Link>();
  readonly #handlers = new Set<(cluster: RemoteCluster) => void>();

  constructor(options: RemoteClustersOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
    this.#shards = options.shards;
    this.#secrets = options.informers.for(Secret, { labelSelector: CLUSTER_LABEL });
  }

  get(key: ObjectKey): RemoteCluster | undefined {
    const connection = this.#links.get(idOf(key))?.connection;
    return connection?.signal.aborted ? undefined : connection;
  }

  onConnect(handler: (cluster: RemoteCluster) => void): Unsubscribe {
    const subscription = (cluster: RemoteCluster) => handler(cluster);
    this.#handlers.add(subscription);
    for (const { connection } of this.#links.values()) {
      if (connection && !connection.signal.aborted) this.#notify(subscription, connection);
    }
    return () => this.#handlers.delete(subscription);
  }

  async run(signal: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    const follow = (change: Change<Secret>) => {
      const link = this.#follow(change);
      if (!link) return;
      const life = link.run(signal).finally(() => running.delete(life));
      running.add(life);
    };
    const stop = this.#secrets.onChange(follow);
    const stopShards = this.#shards?.onChange(() => {
      for (const object of this.#secrets.list()) follow({ type: "added", object });
    });
    await whenAborted(signal);
    stop();
    stopShards?.();
    for (const link of this.#links.values()) link.stop();
    await Promise.all(running);
    this.#links.clear();
  }

  /** Brings the links in line with a Secret; a link that is new is to be run. */
  #follow({ type, object }: Change<Secret>): Link | undefined {
    const key = clusterOf(object);
    if (!key) return undefined;
    const id = idOf(key);
    const known = this.#links.get(id);
    const gone = type === "deleted" || this.#shards?.owns(key.namespace) === false;
    const kubeconfig = gone ? undefined : object.data?.["value"];
    if (!kubeconfig) {
      known?.stop();
      this.#links.delete(id);
      return undefined;
    }
    if (known) {
      known.use(kubeconfig);
      return undefined;
    }
    const log = this.#log.with({ cluster: id });
    const link = new Link(key, kubeconfig, { clock: this.#clock, log, connected: (it) => this.#announce(it) });
    this.#links.set(id, link);
    return link;
  }

  #announce(cluster: RemoteCluster): void {
    for (const handler of this.#handlers) this.#notify(handler, cluster);
  }

  #notify(handler: (cluster: RemoteCluster) => void, cluster: RemoteCluster): void {
    try {
      handler(cluster);
    } catch (error) {
      this.#log.error("a handler of a new connection failed", { reason: messageOf(error), cluster: idOf(cluster.key) });
    }
  }
}

interface LinkTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly connected: (cluster: RemoteCluster) => void;
}

/** What keeps one cluster connected: connection after connection, with back-off, always by the newest kubeconfig. */
class Link {
  connection: Connection | undefined;
  readonly #key: ObjectKey;
  readonly #tools: LinkTools;
  readonly #stop = new AbortController();
  #kubeconfig: string;
  /** Aborts when the kubeconfig changes. */
  #changed = new AbortController();

  constructor(key: ObjectKey, kubeconfig: string, tools: LinkTools) {
    this.#key = key;
    this.#kubeconfig = kubeconfig;
    this.#tools = tools;
  }

  use(kubeconfig: string): void {
    if (kubeconfig === this.#kubeconfig) return;
    this.#kubeconfig = kubeconfig;
    const changed = this.#changed;
    this.#changed = new AbortController();
    changed.abort();
    this.connection?.end("its kubeconfig has changed");
  }

  stop(): void {
    this.#stop.abort();
    this.connection?.end("it is no longer wanted");
  }

  async run(outer: AbortSignal): Promise<void> {
    const { clock, log } = this.#tools;
    const signal = AbortSignal.any([outer, this.#stop.signal]);
    const delayAfter = backoff({ base: 100, cap: 60_000 });
    let failures = 0;
    while (!signal.aborted) {
      const attempt = AbortSignal.any([signal, this.#changed.signal]);
      const began = clock.now();
      try {
        await this.#connect(attempt);
        if (clock.now() - began > 30_000) failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 3) log.warn("the workload cluster cannot be reached", { reason: messageOf(error) });
        else log.debug("the workload cluster cannot be reached", { reason: messageOf(error) });
      }
      // A new kubeconfig is tried at once.
      failures = attempt.aborted ? 0 : failures + 1;
      if (failures > 0) await clock.sleep(delayAfter(failures), attempt).catch(() => {});
    }
  }

  /** One connection, from its making to its end. */
  async #connect(attempt: AbortSignal): Promise<void> {
    const { clock, log, connected } = this.#tools;
    const text = Buffer.from(this.#kubeconfig, "base64").toString("utf8");
    const connection = new Connection(this.#key, loadKubeconfig({ text, selfContained: true }), { clock, log });
    try {
      await connection.open(attempt);
    } catch (error) {
      connection.end("it could not be opened");
      await connection.serve();
      throw error;
    }
    log.info("connected to the workload cluster");
    this.connection = connection;
    const serving = connection.serve();
    if (attempt.aborted) connection.end("it is no longer wanted");
    else connected(connection);
    await serving;
    this.connection = undefined;
    log.info("disconnected from the workload cluster", { reason: messageOf(connection.signal.reason) });
  }
}

/** The cluster that a kubeconfig Secret belongs to. */
function clusterOf(secret: Secret): ObjectKey | undefined {
  const { name, namespace = "", labels = {} } = secret.metadata;
  const cluster = labels[CLUSTER_LABEL];
  const ours = secret.type === SECRET_TYPE && cluster !== undefined && name === cluster + SUFFIX;
  return ours ? { namespace, name: cluster } : undefined;
}
