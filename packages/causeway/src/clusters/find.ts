import { Cluster } from "@causeway/api";
import { InputError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { ownName } from "../terminal/own-name.ts";

/** A cluster by its name. @throws CLUSTER_NOT_FOUND, with the clusters of the namespace. */
export async function findCluster(
  client: KubernetesClient,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Cluster> {
  const found = await client.find(Cluster, key, { signal });
  if (found) return found;
  const { items } = await client.list(Cluster, { namespace: key.namespace, signal });
  const names = items.map(({ metadata }) => metadata.name).sort();
  const there = names.length === 0 ? "The namespace has no clusters" : `Clusters in the namespace: ${names.join(", ")}`;
  throw new InputError("CLUSTER_NOT_FOUND", `Cluster ${key.namespace}/${key.name} does not exist. ${there}`, {
    hint: `See \`${ownName()} get clusters -A\`, or name the namespace with -n.`,
  });
}
