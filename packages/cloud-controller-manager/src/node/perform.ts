import { isNotFound, Node, type EventRecorder, type KubernetesClient } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";

/** What a step is performed on, and with. */
export interface StepContext {
  readonly node: Node;
  readonly signal: AbortSignal;
  readonly events: EventRecorder;
}

/** Performs one step; each may be repeated. */
export async function perform(client: KubernetesClient, step: Step, on: StepContext): Promise<void> {
  const { node, signal } = on;
  const key = { namespace: "", name: node.metadata.name };
  switch (step.type) {
    case "set-addresses": {
      // As with taints below: the kubelet's own Hostname, written just now, must not be lost.
      const body = { metadata: revisionOf(node), status: { addresses: step.addresses } };
      await client.patch(Node, key, { type: "merge", body }, { subresource: "status", signal });
      return;
    }
    case "set-node":
      await client.patch(Node, key, { type: "merge", body: nodePatch(step, node) }, { signal });
      return;
    case "delete-node":
      return deleteNode(client, step.reason, on);
  }
}

/** The resourceVersion keeps another's change of the taints from being undone: they are one atomic list. */
function nodePatch(step: Extract<Step, { type: "set-node" }>, node: Node): Readonly<Record<string, unknown>> {
  const { labels, providerId, taints, annotations } = step;
  return {
    metadata: { labels, ...(annotations ? { annotations } : {}), ...(taints ? revisionOf(node) : {}) },
    spec: { ...(providerId === undefined ? {} : { providerID: providerId }), ...(taints ? { taints } : {}) },
  };
}

/** Makes the server refuse a patch of what has changed meanwhile. */
function revisionOf({ metadata }: Node): { resourceVersion?: string } {
  return metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion };
}

async function deleteNode(client: KubernetesClient, reason: string, on: StepContext): Promise<void> {
  const { node, signal, events } = on;
  const { name, uid } = node.metadata;
  events.event(node, { type: "Normal", reason: "DeletingNode", message: reason });
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  await client.delete(Node, { namespace: "", name }, { signal, ...preconditions }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
