import type { Clock, Log, Metrics } from "@causeway/foundation";
import type { EventRecorder, Informers } from "@causeway/kubernetes";

/** What the scheduler and every controller of one cluster share. */
export interface Context {
  /** Of the cluster whose workloads run; its owner runs them. */
  readonly informers: Informers;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  /** The networks of all pods, one of each family: Nodes get theirs from them. Default: Nodes get none. */
  readonly clusterCIDRs?: readonly string[];
}
