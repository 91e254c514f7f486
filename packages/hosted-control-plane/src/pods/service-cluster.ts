import { Namespace, Pod, type Informer, type Informers, type KubeObject } from "@causeway/kubernetes";
import { idAnnotation, managedSelector } from "./tenant.ts";
import { tenantTypes } from "./types.ts";

/** What this runtime watches in a service cluster: its own objects only. */
export interface ServiceCluster {
  readonly informers: Informers;
  readonly namespaces: Informer<Namespace>;
  readonly pods: Informer<Pod>;
  readonly objects: readonly Informer<KubeObject>[];
}

/** The index of namespaces by the ids of control planes, which several management clusters may share. */
export const controlPlaneIndex = "control-plane";

/** Informers with the label of this runtime; their creator runs them. */
export function openServiceCluster(informers: Informers): ServiceCluster {
  const scope = { labelSelector: managedSelector };
  const namespaces = informers.for(Namespace, scope);
  informers.index(namespaces, {
    [controlPlaneIndex]: ({ metadata }) => [metadata.annotations?.[idAnnotation] ?? ""],
  });
  return {
    informers,
    namespaces,
    pods: informers.for(Pod, scope),
    objects: tenantTypes.map((type) => informers.for(type, scope)),
  };
}
