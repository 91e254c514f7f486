import type { Namespace } from "@causeway/kubernetes";
import { handOverOf, isOwnedBy } from "./hand-over/request.ts";
import { controlPlaneIndex, type ServiceCluster } from "./service-cluster.ts";
import { namespaceOf } from "./tenant.ts";

/**
 * The name of a control plane's namespace. One that was handed over to this management cluster keeps the name that its
 * first one gave it; before its own annotation says so, the request does.
 */
export function namespaceNameOf({ namespaces }: Pick<ServiceCluster, "namespaces">, owner: string, id: string): string {
  const made = namespaceOf(owner, id);
  const all = namespaces.byIndex(controlPlaneIndex, id);
  const best = all
    .map((each) => ({ each, rank: rankOf(each, { owner, id, made }) }))
    .toSorted((a, b) => a.rank - b.rank);
  return best.find(({ rank }) => rank < OF_ANOTHER)?.each.metadata.name ?? made;
}

const OF_ANOTHER = 4;

function rankOf(namespace: Namespace, { owner, id, made }: { owner: string; id: string; made: string }): number {
  const { name, deletionTimestamp } = namespace.metadata;
  if (isOwnedBy(namespace, owner, id)) return (deletionTimestamp === undefined ? 0 : 2) + (name === made ? 0 : 1);
  return handOverOf(namespace)?.to === owner && deletionTimestamp === undefined ? OF_ANOTHER - 0.5 : OF_ANOTHER;
}
