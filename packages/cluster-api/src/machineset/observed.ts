import type { Cluster, Kind, Machine, MachineDeployment, MachineSet } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { NamesInUse } from "../objects/names.ts";

/** A template, where clones of it go, and the clones there are, by name. */
export interface ObservedTemplate extends Referred<ProviderObject> {
  readonly cloneKind: Kind<KubeObject> | undefined;
  readonly clones: NamesInUse;
}

/** A control plane that has a version; without one there is nothing to check before a Machine is made. */
export interface ObservedControlPlane {
  readonly kind: string;
  readonly name: string;
  /** spec.version */
  readonly requested: string;
  /** status.version: what all of it has reached; undefined while it is made for the first time. */
  readonly reached: string | undefined;
}

/** All that the planner of MachineSets reads. */
export interface Observed {
  readonly set: MachineSet;
  readonly cluster: Cluster | undefined;
  readonly deployment: MachineDeployment | undefined;
  /** Machines this set controls. */
  readonly machines: readonly Machine[];
  /** Machines without a controller that the selector fits. */
  readonly orphans: readonly Machine[];
  /** Names of all Machines in the namespace. */
  readonly taken: NamesInUse;
  readonly infrastructure: ObservedTemplate;
  readonly bootstrap: ObservedTemplate | undefined;
  readonly controlPlane: ObservedControlPlane | undefined;
}
