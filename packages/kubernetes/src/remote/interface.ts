import type { Informers, Unsubscribe } from "../cache/interface.ts";
import type { KubernetesClient } from "../client/interface.ts";
import type { ObjectKey } from "../types/meta.ts";

/** A workload cluster that answers. All of it ends with `signal`; what comes back after is another connection. */
export interface RemoteCluster {
  /** Namespace and name of the Cluster. */
  readonly key: ObjectKey;
  /** What it writes is observed by `informers`. */
  readonly client: KubernetesClient;
  readonly informers: Informers;
  readonly signal: AbortSignal;
}

/** The workload clusters whose kubeconfig Secrets the management cluster holds. */
export interface RemoteClusters {
  /** The connected cluster; undefined while there is none. */
  get(key: ObjectKey): RemoteCluster | undefined;
  /** Calls back for every connection made, those that exist already included. */
  onConnect(handler: (cluster: RemoteCluster) => void): Unsubscribe;
  /** Keeps the connections until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}
