import { CSINode, isNotFound, Node, type KubernetesClient } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";

/** Does one step for the node of the name. */
export async function perform(
  client: KubernetesClient,
  { name, step }: { readonly name: string; readonly step: Step },
  signal: AbortSignal,
): Promise<void> {
  const key = { namespace: "", name };
  try {
    if (step.type === "label-node") {
      const body = { metadata: { labels: step.labels } };
      await client.patch(Node, key, { type: "merge", body }, { signal });
    } else if (step.type === "create") {
      await client.create(CSINode, step.csiNode, { signal });
    } else {
      await client.patch(CSINode, key, { type: "merge", body: { spec: { drivers: step.drivers } } }, { signal });
    }
  } catch (error) {
    // The Node or its CSINode went meanwhile: the informers report it.
    if (!isNotFound(error)) throw error;
  }
}
