import type { Endpoints, Informer, ObjectKey, Pod, Service } from "@causeway/kubernetes";
import type { Deletions } from "../objects/deletions.ts";
import { hasSelector, podsSelectedBy } from "../objects/service-pods.ts";

/** A Service with the pods that it selects, and its Endpoints as they are. */
export interface Observed {
  readonly key: ObjectKey;
  /** Undefined: it is gone, and its Endpoints with it. */
  readonly service: Service | undefined;
  readonly pods: readonly Pod[];
  readonly endpoints: Endpoints | undefined;
}

/** What gather reads; `deletions` hides Endpoints whose deletion it does not show yet. */
export interface Caches {
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
  readonly endpoints: Informer<Endpoints>;
  readonly deletions: Deletions;
}

/** Undefined: the Service has no selector, so that its Endpoints are the user's. */
export function gather({ services, pods, endpoints, deletions }: Caches, key: ObjectKey): Observed | undefined {
  const service = services.get(key);
  if (service && !hasSelector(service)) return undefined;
  const found = endpoints.get(key);
  const current = found && deletions.remaining([found])[0];
  return { key, service, pods: service ? podsSelectedBy(service, pods) : [], endpoints: current };
}
