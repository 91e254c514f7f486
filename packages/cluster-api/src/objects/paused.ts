import { annotations, type Cluster } from "@causeway/api";
import { setConditions, type Condition, type KubeObject, type Plan, type WantedCondition } from "@causeway/kubernetes";

interface WithConditions extends KubeObject {
  readonly status?: { conditions?: Condition[] };
}

/**
 * The plan for an object that must not be changed: its current status, and the condition Paused. Undefined when
 * neither the Cluster (spec.paused) nor the object (annotation cluster.x-k8s.io/paused, whatever its value) is paused.
 */
export function pausedPlan<T extends WithConditions>(
  object: T,
  cluster: Cluster | undefined,
  now: number,
): (Plan<never, NonNullable<T["status"]>> & { readonly steps: readonly never[] }) | undefined {
  const own = object.metadata.annotations?.[annotations.paused] !== undefined;
  if (!cluster?.spec.paused && !own) return undefined;
  const message = cluster?.spec.paused
    ? "Cluster spec.paused is true"
    : `${object.kind} has the annotation ${annotations.paused}`;
  const paused: WantedCondition = { type: "Paused", status: "True", reason: "Paused", message };
  const moment = { generation: object.metadata.generation, now };
  const conditions = setConditions(object.status?.conditions, [paused], moment);
  return {
    steps: [],
    status: { ...object.status, conditions } as NonNullable<T["status"]>,
    wait: { for: "unpausing" },
  };
}
