import { timestamp, type Plan, type Pod, type ReplicaSetStatus, type WorkloadCondition } from "@causeway/kubernetes";
import { claim, targetOf } from "../objects/claim.ts";
import { podFromTemplate } from "../objects/pod-template.ts";
import { isActive, isAvailable, isReady, nextAvailability } from "../objects/pods.ts";
import { hasLabels } from "../objects/selector.ts";
import { podsToDelete } from "./deletion-order.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";
import type { ReplicaOwner } from "./variant.ts";

/** Pods created or deleted in one round, at most. */
const BURST = 500;

/** Keeps `spec.replicas` active pods that the selector fits: adopts, releases, creates and deletes. */
export function plan(observed: Observed, now: number): Plan<Step, ReplicaSetStatus> {
  const { owner } = observed;
  const { owned: pods, steps } = claim(
    owner.object,
    owner.selector,
    [...observed.pods, ...observed.orphans].filter(isActive),
  );
  const status = statusOf(owner, pods, now);
  if (steps.length > 0) return { steps, status };
  const manage = owner.object.metadata.deletionTimestamp === undefined ? manageReplicas(observed, pods, now) : [];
  const until = nextAvailability(pods, owner.minReadySeconds, now);
  return {
    steps: manage,
    status,
    ...(until === undefined ? {} : { wait: { for: "pods to be ready for minReadySeconds", until } }),
  };
}

function manageReplicas({ owner, related }: Observed, pods: readonly Pod[], now: number): Step[] {
  const missing = owner.replicas - pods.length;
  if (missing > 0 && owner.template) {
    const pod = podFromTemplate(owner.object, owner.template);
    return [{ type: "create-pods", count: Math.min(missing, BURST), after: pods.length, pod }];
  }
  if (missing >= 0) return [];
  const targets = podsToDelete(pods, { count: Math.min(-missing, BURST), related, now }).map(targetOf);
  return [{ type: "delete-pods", targets }];
}

function statusOf(owner: ReplicaOwner, pods: readonly Pod[], now: number): ReplicaSetStatus {
  const labels = owner.template?.metadata?.labels ?? {};
  const ready = pods.filter(isReady);
  const generation = owner.object.metadata.generation;
  return {
    replicas: pods.length,
    ...positive("fullyLabeledReplicas", pods.filter((pod) => hasLabels(pod.metadata.labels, labels)).length),
    ...positive("readyReplicas", ready.length),
    ...positive("availableReplicas", ready.filter((pod) => isAvailable(pod, owner.minReadySeconds, now)).length),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...kept(owner),
  };
}

/** Fields that the API leaves out when they are 0. */
function positive<Name extends string>(name: Name, value: number): Partial<Record<Name, number>> {
  return (value > 0 ? { [name]: value } : {}) as Partial<Record<Name, number>>;
}

/** Conditions of other writers remain; ours goes when all is well. */
function kept({ object }: ReplicaOwner): Pick<ReplicaSetStatus, "conditions"> {
  const conditions = object.status?.conditions?.filter(({ type }) => type !== "ReplicaFailure") ?? [];
  return conditions.length > 0 ? { conditions } : {};
}

/** The status when creating or deleting pods failed. */
export function failedStatus(
  observed: Observed,
  status: ReplicaSetStatus,
  failure: { readonly step: Step; readonly message: string; readonly now: number },
): ReplicaSetStatus {
  const { step, message, now } = failure;
  if (step.type !== "create-pods" && step.type !== "delete-pods") return status;
  const standing = observed.owner.object.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  const condition: WorkloadCondition = standing ?? {
    type: "ReplicaFailure",
    status: "True",
    lastTransitionTime: timestamp(now),
    reason: step.type === "create-pods" ? "FailedCreate" : "FailedDelete",
    message,
  };
  return { ...status, conditions: [...(status.conditions ?? []), condition] };
}
