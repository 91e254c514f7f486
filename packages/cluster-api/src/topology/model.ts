import type {
  ClusterClass,
  Kind,
  Machine,
  MachineDeployment,
  MachineHealthCheck,
  MachinePool,
  MachineSet,
} from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import type { ProviderObject } from "../contract/provider-object.ts";

/** A template of a ClusterClass: the kind behind the reference, and the object at the reference's version. */
export interface BlueprintTemplate {
  readonly kind: Kind<KubeObject>;
  readonly object: ProviderObject;
}

/** What a ClusterClass consists of. */
export interface Blueprint {
  readonly class: ClusterClass;
  readonly infrastructure: BlueprintTemplate;
  readonly controlPlane: BlueprintTemplate;
  readonly controlPlaneMachine: BlueprintTemplate | undefined;
  /** By the name of the class of workers. */
  readonly deployments: ReadonlyMap<string, WorkerTemplates>;
  /** By the name of the class of pools. */
  readonly pools: ReadonlyMap<string, WorkerTemplates>;
}

/** The templates of a class of workers. */
export interface WorkerTemplates {
  readonly bootstrap: BlueprintTemplate;
  readonly infrastructure: BlueprintTemplate;
}

/** What there is of a Cluster's topology. */
export interface CurrentState {
  readonly infrastructure: ProviderObject | undefined;
  readonly controlPlane: ProviderObject | undefined;
  /** Those of the topology, leaving ones included. */
  readonly deployments: readonly MachineDeployment[];
  /** Those of the topology, leaving ones included. */
  readonly pools: readonly MachinePool[];
  /** Bootstrap and infrastructure objects that were made for pools of the topology, with their kinds. */
  readonly poolObjects: readonly { readonly kind: Kind<KubeObject>; readonly object: ProviderObject }[];
  readonly sets: readonly MachineSet[];
  readonly machines: readonly Machine[];
  readonly healthChecks: readonly MachineHealthCheck[];
  /** Templates that were made for the topology, with their kinds. */
  readonly templates: readonly { readonly kind: Kind<KubeObject>; readonly object: ProviderObject }[];
}

/** How an existing object differs from what the topology wants, by a server-side dry run. */
export interface Difference {
  readonly spec: boolean;
  readonly metadata: boolean;
}

/** A key of the object among all kinds, such as `MachineDeployment.cluster.x-k8s.io/default/web-md-0`. */
export function idOf(kind: Pick<Kind<KubeObject>, "kind" | "group">, object: KubeObject): string {
  return `${kind.kind}.${kind.group}/${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}
