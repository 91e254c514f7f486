import { Cluster, HostedControlPlane } from "@causeway/api";
import { InputError, shortList } from "@causeway/foundation";
import type { KubernetesClient, ObjectKey } from "@causeway/kubernetes";

/** A control plane by its own name, or by that of its cluster; undefined: there is none. */
export async function searchControlPlane(
  client: KubernetesClient,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<HostedControlPlane | undefined> {
  const found = await client.find(HostedControlPlane, key, { signal });
  if (found) return found;
  const cluster = await client.find(Cluster, key, { signal });
  const { kind, name = "" } = cluster?.spec.controlPlaneRef ?? {};
  if (kind !== "HostedControlPlane") return undefined;
  return client.find(HostedControlPlane, { namespace: key.namespace, name }, { signal });
}

/** @throws CONTROL_PLANE_NOT_FOUND, with those of the namespace */
export async function findControlPlane(
  client: KubernetesClient,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<HostedControlPlane> {
  const found = await searchControlPlane(client, key, signal);
  if (found) return found;
  const { items } = await client.list(HostedControlPlane, { namespace: key.namespace, signal });
  const names = items.map(({ metadata }) => metadata.name).sort();
  const there = names.length === 0 ? "none" : shortList(names, 20);
  throw new InputError(
    "CONTROL_PLANE_NOT_FOUND",
    `there is no hosted control plane ${key.name} in namespace ${key.namespace}; there is: ${there}`,
    { hint: "See `causeway backup list -A`, or name the namespace with -n." },
  );
}
