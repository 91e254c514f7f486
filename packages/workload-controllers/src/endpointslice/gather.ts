import type { EndpointSlice, Informer, Node, ObjectKey, Pod, Service } from "@causeway/kubernetes";
import type { Deletions } from "../objects/deletions.ts";
import { hasSelector, podsSelectedBy } from "../objects/service-pods.ts";

/** The value of the label `endpointslice.kubernetes.io/managed-by` of the slices of this controller, as upstream's. */
export const manager = "endpointslice-controller.k8s.io";
/** Index of slices that this controller keeps, by the key of their Service. */
export const byService = "service";

/** A Service with the pods that it selects, and the slices that this controller keeps for it. */
export interface Observed {
  readonly service: Service;
  readonly pods: readonly Pod[];
  readonly slices: readonly EndpointSlice[];
  /** Names of nodes that exist, with their zones. */
  readonly zones: ReadonlyMap<string, string | undefined>;
}

/** What gather reads; `deletions` hides slices whose deletion it does not show yet. */
export interface Caches {
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly slices: Informer<EndpointSlice>;
  readonly nodes: Informer<Node>;
  readonly deletions: Deletions;
}

/** Undefined: the Service is gone or being deleted, or has no selector. */
export function gather({ services, pods, slices, nodes, deletions }: Caches, key: ObjectKey): Observed | undefined {
  const service = services.get(key);
  // The garbage collector deletes the slices of a Service that is gone.
  if (!service || service.metadata.deletionTimestamp !== undefined || !hasSelector(service)) return undefined;
  const selected = podsSelectedBy(service, pods);
  const names = new Set(selected.flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : [])));
  const found = [...names].flatMap((name) => nodes.get({ namespace: "", name }) ?? []);
  return {
    service,
    pods: selected,
    slices: deletions.remaining(slices.byIndex(byService, `${key.namespace}/${key.name}`)),
    zones: new Map(found.map(({ metadata }) => [metadata.name, metadata.labels?.["topology.kubernetes.io/zone"]])),
  };
}
