import type { Clock } from "@causeway/foundation";
import {
  isNotFound,
  keyOf,
  Node,
  Pod,
  timestamp,
  type EventRecorder,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { NodeStep } from "./steps.ts";

/** What the writes need. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly signal: AbortSignal;
}

/** Does one step. Pods that are gone are passed over; taints of a Node that changed meanwhile are a conflict. */
export async function perform(node: Node, step: NodeStep, using: PerformContext): Promise<void> {
  const { client, events, signal } = using;
  switch (step.type) {
    case "write-conditions": {
      const body = { metadata: { uid: node.metadata.uid }, status: { conditions: step.conditions } };
      await client.patch(Node, keyOf(node), { type: "strategic", body }, { subresource: "status", signal });
      const message = `Node ${node.metadata.name} status is now: NodeNotReady`;
      return events.event(node, { type: "Normal", reason: "NodeNotReady", message });
    }
    case "write-taints": {
      // Taints are one list: the revision keeps those that others add meanwhile.
      const { uid, resourceVersion } = node.metadata;
      const body = { metadata: { uid, resourceVersion }, spec: { taints: step.taints } };
      await client.patch(Node, keyOf(node), { type: "merge", body }, { signal });
      return;
    }
    case "mark-not-ready":
      return unlessGone(() => markPod(step.pod, { type: "Ready", status: "False" }, using));
    case "evict":
      return unlessGone(() => evict(step.pod, using));
  }
}

async function evict(pod: Pod, using: PerformContext): Promise<void> {
  const { uid } = pod.metadata;
  const message = "Taint manager: deleting due to NoExecute taint";
  const { client, events, signal } = using;
  events.event(pod, {
    type: "Normal",
    reason: "TaintManagerEviction",
    message: `Marking for deletion Pod ${pod.metadata.namespace}/${pod.metadata.name}`,
  });
  await markPod(pod, { type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager", message }, using);
  await client.delete(Pod, keyOf(pod), { ...(uid === undefined ? {} : { preconditions: { uid } }), signal });
}

async function markPod(pod: Pod, condition: object, { client, clock, signal }: PerformContext): Promise<void> {
  const conditions = [{ ...condition, lastTransitionTime: timestamp(clock.now()) }];
  const body = { metadata: { uid: pod.metadata.uid }, status: { conditions } };
  await client.patch(Pod, keyOf(pod), { type: "strategic", body }, { subresource: "status", signal });
}

/** A pod that is gone needs nothing. */
async function unlessGone(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
