import { CausewayError, shortList } from "@causeway/foundation";
import { isConflict, isNotFound, isTooManyRequests, Pod, type KubernetesClient } from "@causeway/kubernetes";
import { hasCode } from "@causeway/foundation";
import type { EvictedPod } from "./steps.ts";

/** The pods of one Node to evict now. */
export interface DrainOrder {
  readonly node: string;
  readonly pods: readonly EvictedPod[];
  readonly graceSeconds?: number;
}

/**
 * Evicts each pod once, so that PodDisruptionBudgets are respected. Throws CAPI_DRAIN_BLOCKED when one of them refuses;
 * the others have been evicted by then.
 */
export async function drain(client: KubernetesClient, order: DrainOrder, signal: AbortSignal): Promise<void> {
  const refused: string[] = [];
  for (const pod of order.pods) {
    const evicted = await evict(client, pod, { grace: order.graceSeconds, signal });
    if (!evicted) refused.push(`${pod.namespace}/${pod.name}`);
  }
  if (refused.length === 0) return;
  throw new CausewayError(
    "CAPI_DRAIN_BLOCKED",
    `Node ${order.node} cannot be drained: a PodDisruptionBudget keeps ${shortList(refused, 3)}`,
    {
      hint: "Provide capacity for the pods on other nodes, relax the budget, or set spec.deletion.nodeDrainTimeoutSeconds on the Machine.",
    },
  );
}

interface EvictionOptions {
  readonly grace: number | undefined;
  readonly signal: AbortSignal;
}

/** False when a budget refuses. A server without the eviction subresource gets a plain deletion. */
async function evict(client: KubernetesClient, pod: EvictedPod, { grace, signal }: EvictionOptions): Promise<boolean> {
  const { namespace, name, uid } = pod;
  const deleteOptions = {
    preconditions: { uid },
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
  };
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name }, deleteOptions };
  try {
    await client.request("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, { body, signal });
    return true;
  } catch (error) {
    if (isTooManyRequests(error)) return false;
    // Another pod of that name: the one we meant is gone.
    if (isConflict(error)) return true;
    if (!isNotFound(error) && !hasCode(error, "KUBERNETES_METHOD_NOT_ALLOWED")) throw error;
    await remove(client, pod, { grace, signal });
    return true;
  }
}

async function remove(client: KubernetesClient, pod: EvictedPod, { grace, signal }: EvictionOptions): Promise<void> {
  try {
    await client.delete(
      Pod,
      { namespace: pod.namespace, name: pod.name },
      { preconditions: { uid: pod.uid }, ...(grace === undefined ? {} : { gracePeriodSeconds: grace }), signal },
    );
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}
