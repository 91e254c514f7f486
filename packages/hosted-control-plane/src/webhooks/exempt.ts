import { isNotFound, type KubernetesClient } from "@causeway/kubernetes";
import type { Webhook } from "./critical.ts";

/** Of the match condition. */
const NAME = "causeway.dev/exempt-system";
/** Requests about it are not sent to the webhook. */
const EXPRESSION =
  "!((has(request.namespace) && request.namespace in ['kube-system', 'kube-node-lease']) || (request.resource.group == '' && request.resource.resource in ['nodes', 'namespaces']))";

/**
 * Adds a match condition to the webhook, with which it is not called for requests of the system. False: it has it
 * already, or is gone.
 */
export async function exempt(
  client: KubernetesClient,
  { configuration: { kind, name }, name: webhook }: Webhook,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s/${name}`;
  const matchConditions = [{ name: NAME, expression: EXPRESSION }];
  const body = { webhooks: [{ name: webhook, matchConditions }] };
  try {
    const before = revisionOf(await client.request("GET", path, { signal }));
    const contentType = "application/strategic-merge-patch+json";
    const after = revisionOf(await client.request("PATCH", path, { body, contentType, signal }));
    return before !== after;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function revisionOf(object: unknown): unknown {
  return (object as { metadata?: { resourceVersion?: unknown } } | undefined)?.metadata?.resourceVersion;
}
