import type { Cluster, Kind, Machine, MachineDeployment, MachineSet } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import type { ProviderObject } from "../contract/provider-object.ts";

export interface ReferredProvider {
  readonly kind: Kind<KubeObject>;
  readonly name: string;
  readonly object: ProviderObject | undefined;
}

/** All that the planner of Clusters looks at. */
export interface ClusterFacts {
  readonly cluster: Cluster;
  readonly infrastructure: ReferredProvider | undefined;
  readonly controlPlane: ReferredProvider | undefined;
  readonly deployments: readonly MachineDeployment[];
  readonly sets: readonly MachineSet[];
  readonly machines: readonly Machine[];
  /** Since when the workload cluster has not answered (ms since the epoch); undefined while it does. */
  readonly silentSince: number | undefined;
}
