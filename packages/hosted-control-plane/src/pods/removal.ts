import { CausewayError } from "@causeway/foundation";
import { Namespace } from "@causeway/kubernetes";
import { handOverOf } from "./hand-over/request.ts";
import type { ServiceCluster } from "./service-cluster.ts";

/** @throws PODS_HANDED_OVER */
export function refuseHandedOver(namespace: Namespace | undefined, id: string): void {
  if (namespace === undefined || handOverOf(namespace) === undefined) return;
  throw new CausewayError("PODS_HANDED_OVER", `${id} is being handed over to another management cluster`, {
    hint: "Repeat causeway move, and delete it in the target.",
  });
}

/** Deletes the namespace with all that is in it, as it was read: one that changed meanwhile is read again. */
export async function removeNamespace(
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
