import type { Endpoints, EndpointSlice, Informer, ObjectKey, Service } from "@causeway/kubernetes";
import type { Deletions } from "../objects/deletions.ts";

/** The value of the label `endpointslice.kubernetes.io/managed-by` of mirrored slices, as upstream's. */
export const manager = "endpointslicemirroring-controller.k8s.io";
/** Index of slices that this controller keeps, by the key of their Service. */
export const byEndpoints = "endpoints";

/** A user's Endpoints, its Service and the slices that mirror it. */
export interface Observed {
  readonly key: ObjectKey;
  /** Undefined: they do not exist. */
  readonly endpoints: Endpoints | undefined;
  /** The Service of the same name. */
  readonly service: Service | undefined;
  /** The mirrored slices that exist. */
  readonly slices: readonly EndpointSlice[];
  /** Names of all slices of the namespace: no new one may have them. */
  readonly names: readonly string[];
}

/** What gather reads; `deletions` hides slices whose deletion it does not show yet. */
export interface Caches {
  readonly services: Informer<Service>;
  readonly endpoints: Informer<Endpoints>;
  readonly slices: Informer<EndpointSlice>;
  readonly deletions: Deletions;
}

/** `names` is the index that has the slices by namespace. */
export function gather({ services, endpoints, slices, deletions }: Caches, key: ObjectKey, names: string): Observed {
  return {
    key,
    endpoints: endpoints.get(key),
    service: services.get(key),
    slices: deletions.remaining(slices.byIndex(byEndpoints, `${key.namespace}/${key.name}`)),
    names: slices.byIndex(names, key.namespace ?? "").map(({ metadata }) => metadata.name),
  };
}
