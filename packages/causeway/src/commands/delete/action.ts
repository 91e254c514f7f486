import { Cluster } from "@causeway/api";
import { InputError } from "@causeway/foundation";
import { findCluster } from "../../clusters/find.ts";
import { withManagement } from "../../clusters/place.ts";
import { waitUntil } from "../../clusters/wait.ts";
import { confirm } from "../../terminal/confirm.ts";
import type { DeleteClusterOptions } from "./command.ts";

/**
 * Deletes a cluster, and waits until it is gone.
 * @throws CLUSTER_NOT_FOUND, DELETE_NOT_CONFIRMED, CLUSTER_DELETE_TIMEOUT
 */
export async function deleteCluster(name: string, options: DeleteClusterOptions, signal: AbortSignal): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const key = { namespace, name };
    const { metadata } = await findCluster(client, key, signal);
    if (!options.yes && !(await confirmed(key, signal))) return;
    // Another cluster of the same name, made meanwhile, is not this one.
    await client.delete(Cluster, key, { ...(metadata.uid ? { preconditions: { uid: metadata.uid } } : {}), signal });
    if (!options.wait) return void process.stdout.write(`cluster ${namespace}/${name} is being deleted\n`);
    const check = async (): Promise<string | undefined> => {
      const left = await client.find(Cluster, key, { signal });
      return left?.metadata.uid === metadata.uid ? "it still exists" : undefined;
    };
    await waitUntil(check, { ...key, timeout: options.timeout, signal, code: "CLUSTER_DELETE_TIMEOUT" });
    process.stdout.write(`cluster ${namespace}/${name} deleted\n`);
  });
}

async function confirmed(
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  const cluster = `cluster ${key.namespace}/${key.name}`;
  const answer = await confirm(`Delete ${cluster} with its machines, load balancers and network?`, signal);
  if (answer !== undefined) return answer;
  throw new InputError("DELETE_NOT_CONFIRMED", `${cluster} would be deleted, and there is no terminal`, {
    hint: "Delete it with --yes.",
  });
}
