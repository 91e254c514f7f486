import type { Clock, Log, Metrics } from "@causeway/foundation";
import type { Charge, EventRecorder, Informers } from "@causeway/kubernetes";

/** What the scheduler and every controller of one cluster share. */
export interface Context {
  /** Of the cluster whose workloads run; its owner runs them. */
  readonly informers: Informers;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  /** Does what is computed for the cluster on its account. Default: on none. */
  readonly charge?: Charge;
  /** The networks of all pods, one of each family: Nodes get theirs from them. Default: Nodes get none. */
  readonly clusterCIDRs?: readonly string[];
}
