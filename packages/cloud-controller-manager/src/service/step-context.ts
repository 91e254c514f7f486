import type { EventRecorder, KubernetesClient } from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import type { Backoffs, PoolDetails, TreeFreshness } from "@causeway/octavia-tree";
import type { Observed } from "./observed.ts";

/** What steps are performed with. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly events: EventRecorder;
  readonly details: PoolDetails;
  readonly freshness: TreeFreshness;
  readonly backoffs: Backoffs;
}

/** One step under way. */
export interface StepContext {
  readonly using: PerformContext;
  readonly observed: Observed;
  readonly signal: AbortSignal;
}
