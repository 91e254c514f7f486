import { Namespace, RoleBinding, type KubernetesClient } from "@causeway/kubernetes";
import type { KubernetesUser } from "../user.ts";
import { namespaceOf, type Observed } from "./plan.ts";
import type { SyncConfig } from "./plan-config.ts";

/** Reads the namespace of the user's project and its RoleBindings. */
export async function gather(
  client: KubernetesClient,
  { user, config }: { user: KubernetesUser; config: SyncConfig },
  signal: AbortSignal,
): Promise<Observed> {
  const name = namespaceOf(user, config);
  if (name === undefined) return { user, config, namespace: undefined, bindings: [] };
  const namespace = await client.find(Namespace, { namespace: "", name }, { signal });
  if (namespace === undefined || !config.dataTypes.includes("role_assignments"))
    return { user, config, namespace, bindings: [] };
  const { items } = await client.list(RoleBinding, { namespace: name, signal });
  return { user, config, namespace, bindings: items };
}
