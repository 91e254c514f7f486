import { CausewayError } from "@causeway/foundation";
import { Namespace } from "@causeway/kubernetes";
import { handOverOf, isOwnedBy } from "./hand-over/request.ts";
import type { ServiceCluster } from "./service-cluster.ts";

/** @throws PODS_HANDED_OVER */
function refuseHandedOver(namespace: Namespace | undefined, id: string): void {
  if (namespace === undefined || handOverOf(namespace) === undefined) return;
  throw new CausewayError("PODS_HANDED_OVER", `${id} is being handed over to another management cluster`, {
    hint: "Repeat causeway move, and delete it in the target.",
  });
}

/** What is removed of one control plane. */
export interface Removal {
  readonly id: string;
  readonly owner: string;
  /** The name of its namespace, once the caches are synced. */
  readonly named: () => string;
  /** Its data and its user of a shared etcd. */
  readonly removeData: (namespace: string) => Promise<void>;
}

/**
 * Of another management cluster nothing is removed, nor its data in the shared etcd: false.
 * @throws PODS_HANDED_OVER
 */
export async function removeControlPlane(
  cluster: ServiceCluster,
  { id, owner, named, removeData }: Removal,
  signal: AbortSignal,
): Promise<boolean> {
  const { informers } = cluster;
  await informers.whenSynced(signal);
  const name = named();
  const found = await informers.client.find(Namespace, { namespace: "", name }, { signal });
  refuseHandedOver(found, id);
  if (found !== undefined && !isOwnedBy(found, owner, id)) return false;
  await removeData(name);
  await removeNamespace(cluster, found, signal);
  return true;
}

/** Deletes the namespace with all that is in it, as it was read: one that changed meanwhile is read again. */
async function removeNamespace(
  { informers: { client } }: ServiceCluster,
  found: Namespace | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
  const { name, uid, resourceVersion } = found.metadata;
  const preconditions =
    uid === undefined || resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } };
  await client.delete(Namespace, { namespace: "", name }, { ...preconditions, signal });
}
