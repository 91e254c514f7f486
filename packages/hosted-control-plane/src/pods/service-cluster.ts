import { Namespace, Pod, type Informer, type Informers, type KubeObject } from "@causeway/kubernetes";
import { managedSelector } from "./tenant.ts";
import { tenantTypes } from "./types.ts";

/** What this runtime watches in a service cluster: its own objects only. */
export interface ServiceCluster {
  readonly informers: Informers;
  readonly namespaces: Informer<Namespace>;
  readonly pods: Informer<Pod>;
  readonly objects: readonly Informer<KubeObject>[];
}

/** Informers with the label of this runtime; their creator runs them. */
export function openServiceCluster(informers: Informers): ServiceCluster {
  const scope = { labelSelector: managedSelector };
  return {
    informers,
    namespaces: informers.for(Namespace, scope),
    pods: informers.for(Pod, scope),
    objects: tenantTypes.map((type) => informers.for(type, scope)),
  };
}
