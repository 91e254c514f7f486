import { annotations, labels, MachineHealthCheck, type Cluster, type MachineHealthCheckStatus } from "@causeway/api";
import {
  getCondition,
  isTrue,
  ownerReference,
  setConditions,
  type Condition,
  type Plan,
  type PlannedEvent,
  type WantedCondition,
} from "@causeway/kubernetes";
import { notPaused, settleConditions } from "../objects/conditions.ts";
import { metadataPatch } from "../objects/metadata.ts";
import { pausedPlan } from "../objects/paused.ts";
import { patchStep } from "../objects/steps.ts";
import type { Observed, Target } from "./observed.ts";
import { healthOf, type Health } from "./health.ts";
import { allowanceOf } from "./limit.ts";
import type { HealthCheckStep } from "./steps.ts";

/** Steps set conditions of Machines; the check itself deletes no Machine. */
export type HealthCheckPlan = Plan<HealthCheckStep, MachineHealthCheckStatus>;

interface Checked {
  readonly target: Target;
  readonly health: Health;
}

/** What to do for a MachineHealthCheck: the health of each Machine as a condition, from which its owner remediates. */
export function plan(observed: Observed, now: number): HealthCheckPlan {
  const { check, cluster, connected } = observed;
  const paused = pausedPlan(check, cluster, now);
  if (paused) return paused;
  const status = check.status ?? {};
  if (!cluster) return { steps: [], status, wait: { for: `Cluster ${check.spec.clusterName}` } };
  const steps: HealthCheckStep[] = patchStep(MachineHealthCheck, check, ownMetadata(check, cluster));
  // Without a connection nothing is known of Nodes: no Machine is judged.
  if (!connected && isTrue(cluster.status?.conditions, "ControlPlaneInitialized")) {
    return { steps, status, wait: { for: "the connection to the workload cluster" } };
  }
  const targets = observed.targets.filter(({ machine }) => !isSkipped(machine.metadata.annotations));
  const checked = targets.map((target) => ({ target, health: healthOf(target, { check, cluster, now }) }));
  const healthy = checked.filter(({ health }) => health.state === "healthy").length;
  const allowance = allowanceOf(check.spec.remediation?.triggerIf, {
    total: targets.length,
    unhealthy: targets.length - healthy,
  });
  const remediation = remediationCondition(check, allowance);
  const acts = remediation.status === "True";
  const next = checked.flatMap(({ health }) => (health.state === "pending" && health.until ? [health.until] : []));
  const unhealthy = checked.some(({ health }) => health.state === "unhealthy");
  const { generation } = check.metadata;
  return {
    steps: [...steps, ...checked.flatMap((one) => marking(one, { acts, cluster, now }))],
    status: {
      conditions: settleConditions([remediation, notPaused], { previous: status.conditions, generation, now }),
      expectedMachines: targets.length,
      currentHealthy: healthy,
      remediationsAllowed: acts ? allowance.more : 0,
      ...(targets.length > 0 ? { targets: targets.map(({ machine }) => machine.metadata.name).toSorted() } : {}),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    },
    events: !acts && unhealthy ? restriction(status.conditions, remediation) : [],
    wait: { for: "changes", ...(next.length > 0 ? { until: Math.min(...next) } : {}) },
  };
}

function ownMetadata(check: MachineHealthCheck, cluster: Cluster): Record<string, unknown> | undefined {
  return metadataPatch(check, {
    owner: ownerReference(cluster),
    labels: { [labels.clusterName]: check.spec.clusterName },
  });
}

function isSkipped(notes: Readonly<Record<string, string>> | undefined): boolean {
  return notes?.[annotations.skipRemediation] !== undefined || notes?.[annotations.paused] !== undefined;
}

function remediationCondition(
  check: MachineHealthCheck,
  allowance: { readonly allowed: boolean; readonly message: string },
): WantedCondition {
  const type = "RemediationAllowed";
  const { templateRef } = check.spec.remediation ?? {};
  if (templateRef) {
    const message = `External remediation by ${templateRef.kind} ${templateRef.name} is not supported: remove spec.remediation.templateRef, so that the owner of a Machine replaces it`;
    return { type, status: "False", reason: "ExternalRemediationNotSupported", message };
  }
  if (allowance.allowed) return { type, status: "True", reason: "RemediationAllowed" };
  return { type, status: "False", reason: "TooManyUnhealthy", message: allowance.message };
}

/** Emitted when the message changes, not with each reconcile. */
function restriction(previous: readonly Condition[] | undefined, now: WantedCondition): PlannedEvent[] {
  const message = now.message ?? "";
  if (getCondition(previous, now.type)?.message === message) return [];
  return [{ type: "Warning", reason: "RemediationRestricted", message }];
}

const succeeded = "HealthCheckSucceeded";
const remediated = "OwnerRemediated";

/** The conditions of a Machine that health checks own, written only when they change. */
function marking(
  { target, health }: Checked,
  on: { readonly acts: boolean; readonly cluster: Cluster; readonly now: number },
): HealthCheckStep[] {
  if (health.state === "pending") return [];
  const { machine } = target;
  const current = machine.status?.conditions;
  const wanted: WantedCondition[] =
    health.state === "healthy"
      ? [{ type: succeeded, status: "True", reason: "HealthCheckSucceeded" }]
      : [{ type: succeeded, status: "False", reason: health.reason, message: health.message }];
  const before = getCondition(current, remediated);
  if (health.state === "unhealthy" && before?.status === "False") wanted.push(before);
  else if (health.state === "unhealthy" && on.acts) {
    wanted.push({ type: remediated, status: "False", reason: "WaitingForRemediation" });
  }
  const owned = (current ?? []).filter(({ type }) => type === succeeded || type === remediated);
  const extra = health.state === "healthy" && before !== undefined;
  if (!extra && wanted.every((condition) => isSame(getCondition(owned, condition.type), condition))) return [];
  const kept = owned.filter(({ type }) => wanted.some((condition) => condition.type === type));
  const conditions = setConditions(kept, wanted, { generation: machine.metadata.generation, now: on.now });
  const failed = health.state === "unhealthy" && getCondition(owned, succeeded)?.status !== "False";
  return [{ type: "set-conditions", machine, conditions, ...(failed ? { failed: true } : {}) }];
}

function isSame(condition: Condition | undefined, wanted: WantedCondition): boolean {
  return (
    condition?.status === wanted.status &&
    condition.reason === wanted.reason &&
    (condition.message ?? "") === (wanted.message ?? "")
  );
}

/** The event of a Machine that failed its check. */
export function healthCheckStepEvents(step: HealthCheckStep, check: MachineHealthCheck): PlannedEvent[] {
  if (step.type !== "set-conditions" || !step.failed) return [];
  const message = `Machine ${step.machine.metadata.name} has been marked as unhealthy by ${check.metadata.name}`;
  return [{ type: "Normal", reason: "MachineMarkedUnhealthy", message }];
}
