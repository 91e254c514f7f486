import { CausewayError, type Clock } from "@causeway/foundation";
import {
  isConflict,
  isNotFound,
  keyOf,
  Pod,
  timestamp,
  type EventRecorder,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { Caches } from "./caches.ts";
import { isBound } from "./filters/volume-claims.ts";
import type { VolumePlan } from "./filters/volume-binding.ts";
import type { PodInfo } from "../model/pod-info.ts";
import { statusOf } from "../model/spec.ts";
import { PersistentVolume, PersistentVolumeClaim } from "../objects/storage.ts";
import { preemptedReason } from "./preemption.ts";
import type { ClusterState } from "./state.ts";
import type { SchedulerStep } from "./steps.ts";

/** What the writes need. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly caches: Caches;
  readonly state: ClusterState;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly signal: AbortSignal;
}

type StepOf<Type extends SchedulerStep["type"]> = Extract<SchedulerStep, { type: Type }>;

/** How long volumes may take to be bound once a node is chosen. */
const volumesWait = 600_000;

/** Performs one step for a pod that waits for a node. */
export function perform(pod: PodInfo, step: SchedulerStep, using: PerformContext): Promise<void> {
  switch (step.type) {
    case "bind":
      return bind(pod, step, using);
    case "preempt":
      return preempt(pod, step, using);
    case "report":
      return report(pod, { ...step, reason: "Unschedulable" }, using);
  }
}

/** Binds the volumes, waits for them, then binds the pod. Throws SCHEDULER_VOLUMES_NOT_BOUND after ten minutes. */
async function bind(pod: PodInfo, step: StepOf<"bind">, using: PerformContext): Promise<void> {
  const { client, events, signal } = using;
  await bindVolumes(step, using);
  const { name, namespace = "", uid } = pod.pod.metadata;
  await client.request("POST", `/api/v1/namespaces/${namespace}/pods/${name}/binding`, {
    body: {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, ...(uid === undefined ? {} : { uid }) },
      target: { kind: "Node", name: step.node },
    },
    signal,
  });
  const message = `Successfully assigned ${pod.key} to ${step.node}`;
  events.event(pod.pod, { type: "Normal", reason: "Scheduled", message });
}

async function bindVolumes({ node, volumes }: StepOf<"bind">, using: PerformContext): Promise<void> {
  const { client, signal } = using;
  for (const { claim, volume } of volumes.bind) {
    const { namespace, name, uid } = claim.metadata;
    const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
    const annotations = { "pv.kubernetes.io/bound-by-controller": "yes" };
    const { resourceVersion } = volume.metadata;
    const body = { metadata: { annotations, resourceVersion }, spec: { claimRef } };
    await client.patch(PersistentVolume, keyOf(volume), { type: "merge", body }, { signal });
  }
  for (const claim of volumes.provision) {
    const body = { metadata: { annotations: { "volume.kubernetes.io/selected-node": node } } };
    await client.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", body }, { signal });
  }
  await whenBound(volumes, using);
}

/** Waits until the volume controller has bound the claims. */
async function whenBound(volumes: VolumePlan, { caches, clock, signal }: PerformContext): Promise<void> {
  const keys = [...volumes.bind.map(({ claim }) => claim), ...volumes.provision].map(keyOf);
  const areBound = () =>
    keys.every((key) => {
      const claim = caches.claims.get(key);
      return claim !== undefined && isBound(claim);
    });
  if (areBound()) return;
  const ended = new AbortController();
  const done = Promise.withResolvers<void>();
  const stop = caches.claims.onChange(() => {
    if (areBound()) done.resolve();
  });
  try {
    await Promise.race([
      done.promise,
      clock.sleep(volumesWait, AbortSignal.any([signal, ended.signal])).then(() => {
        throw new CausewayError("SCHEDULER_VOLUMES_NOT_BOUND", "the pod's volumes were not bound within ten minutes", {
          hint: "See the events of the PersistentVolumeClaims.",
        });
      }),
    ]);
  } finally {
    stop();
    ended.abort();
  }
}

/** Pods of a lower priority for which pods were removed from the same node search for another node. */
async function preempt(pod: PodInfo, step: StepOf<"preempt">, using: PerformContext): Promise<void> {
  await deleteVictims(pod, step, using);
  for (const other of using.state.nominatedTo(step.node)) {
    if (other.priority >= pod.priority) continue;
    using.state.dropNomination(other.key);
    await clearNomination(other, using);
  }
}

/** Deletes the victims. One that has gone by itself is success. */
async function deleteVictims(pod: PodInfo, step: StepOf<"preempt">, using: PerformContext): Promise<void> {
  const { client, clock, events, signal } = using;
  for (const { pod: victim } of step.victims) {
    if (victim.metadata.deletionTimestamp !== undefined) continue;
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: preemptedReason,
      message: "default-scheduler: preempting to accommodate a higher priority pod",
      lastTransitionTime: timestamp(clock.now()),
    };
    const { uid } = victim.metadata;
    try {
      await client.patch(
        Pod,
        keyOf(victim),
        { type: "strategic", body: { metadata: { uid }, status: { conditions: [condition] } } },
        { subresource: "status", signal },
      );
      await client.delete(Pod, keyOf(victim), { ...(uid === undefined ? {} : { preconditions: { uid } }), signal });
    } catch (error) {
      if (isNotFound(error)) continue;
      throw error;
    }
    const message = `Preempted by pod ${pod.pod.metadata.uid ?? pod.key} on node ${step.node}`;
    events.event(victim, { type: "Normal", reason: "Preempted", message });
  }
}

/** The room that was made for the pod is another's now. */
async function clearNomination(pod: PodInfo, { client, signal }: PerformContext): Promise<void> {
  const { uid } = pod.pod.metadata;
  const body = { metadata: { uid }, status: { nominatedNodeName: null } };
  try {
    await client.patch(Pod, keyOf(pod.pod), { type: "strategic", body }, { subresource: "status", signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** Writes why the pod waits, unless its status says so already. */
export async function report(
  pod: PodInfo,
  { message, nominatedNode, reason }: Omit<StepOf<"report">, "type"> & { readonly reason: string },
  using: PerformContext,
): Promise<void> {
  const { client, clock, events, signal } = using;
  events.event(pod.pod, { type: "Warning", reason: "FailedScheduling", message });
  const { conditions = [], nominatedNodeName = "" } = statusOf(pod.pod);
  const before = conditions.find(({ type }) => type === "PodScheduled");
  const isSame = before?.status === "False" && before.reason === reason && before.message === message;
  if (isSame && nominatedNodeName === nominatedNode) return;
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason,
    message,
    lastProbeTime: null,
    ...(before?.status === "False" ? {} : { lastTransitionTime: timestamp(clock.now()) }),
  };
  const nomination = nominatedNodeName === nominatedNode ? {} : { nominatedNodeName: nominatedNode || null };
  const body = { metadata: { uid: pod.pod.metadata.uid }, status: { conditions: [condition], ...nomination } };
  try {
    await client.patch(Pod, keyOf(pod.pod), { type: "strategic", body }, { subresource: "status", signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
