import { isConflict, isNotFound, Namespace, type KubernetesClient } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";

/** "deferred": the namespace changed in the meantime, and the next plan sees it. */
export async function perform(
  client: KubernetesClient,
  { namespace, annotation, content }: Step,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { name, uid, resourceVersion } = namespace.metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [annotation]: JSON.stringify(content) } } };
  const fieldManager = "causeway-hand-over";
  try {
    await client.patch(Namespace, { namespace: "", name }, { type: "merge", body }, { fieldManager, signal });
    return undefined;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "deferred";
    throw error;
  }
}
