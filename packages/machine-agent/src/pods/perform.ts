import { keyOf, Pod, type EventRecorder, type KubernetesClient } from "@causeway/kubernetes";
import { claimsOf } from "../volumes/pod-volumes.ts";
import { askedOf } from "./annotations.ts";
import type { Observed } from "./plan.ts";
import type { Step } from "./steps.ts";

/** With what the pods of a node are played. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly nodeName: string;
  readonly events: EventRecorder;
}

/** Does one step for a pod. */
export async function perform(
  using: PerformContext,
  step: Step,
  { pod }: Pick<Observed, "pod">,
  signal: AbortSignal,
): Promise<void> {
  const { client } = using;
  const { uid = "" } = pod.metadata;
  if (step.type === "delete") {
    await client.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid }, signal });
    return;
  }
  if (pod.status?.startTime === undefined) announce(using, pod);
  const body = { metadata: { uid }, status: step.status };
  await client.patch(Pod, keyOf(pod), { type: "strategic", body }, { subresource: "status", signal });
}

function announce({ nodeName, events }: PerformContext, pod: Pod): void {
  const mounts = claimsOf(pod).length === 0 ? "" : "; its volumes are attached to the server, and nothing is mounted";
  const message = `Node ${nodeName} is simulated: the status of this pod is played, and none of its containers runs${mounts}`;
  events.event(pod, { type: "Normal", reason: "Simulated", message });
  const { problems } = askedOf(pod);
  if (problems.length > 0) {
    const wrong = `These annotations are ignored, see the README of machine-agent for what they can say: ${problems.join("; ")}`;
    events.event(pod, { type: "Warning", reason: "InvalidAnnotation", message: wrong });
  }
}
