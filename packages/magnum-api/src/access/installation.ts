import { messageOf, type Log } from "@causeway/foundation";
import { Namespace, type KubernetesClient } from "@causeway/kubernetes";

/**
 * What distinguishes the management cluster from every other one: the uid of its namespace kube-system, read once.
 * Undefined: it cannot be read, which is logged.
 */
export function createInstallation(
  client: KubernetesClient,
  log: Log,
): (signal: AbortSignal) => Promise<string | undefined> {
  let known: string | undefined;
  return async (signal) => {
    if (known !== undefined) return known;
    try {
      return (known = (await client.get(Namespace, { namespace: "", name: "kube-system" }, { signal })).metadata.uid);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn("namespace kube-system cannot be read: users of clusters are not known as this installation's", {
        error: messageOf(error),
      });
      return undefined;
    }
  };
}
