import type { HostedControlPlane } from "@causeway/api";
import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";
import type { StorageState } from "../runtime.ts";

const TYPE = "StorageWithinBudget";

/** Only for control planes whose data is measured: does it store no more than its budget, and who must act? */
export function storageConditions(state: StorageState | undefined): WantedCondition[] {
  if (state === undefined) return [];
  const { stage } = state;
  if (stage === "Within") return [{ type: TYPE, status: "True", reason: "WithinBudget" }];
  const reason = stage === "Exceeded" ? "BudgetExceeded" : "Sealed";
  return [{ type: TYPE, status: "False", reason, message: storageMessage(state) }];
}

function storageMessage({ bytes, budget, stage, opensAt, lacksSpace }: StorageState): string {
  const stored = `it stores ${mebibytes(bytes)}, and its budget in the shared etcd is ${mebibytes(budget)}`;
  if (stage === "Exceeded")
    return `${stored}: its API refuses to create and change objects until users delete some; delete objects, or raise spec.limits.bytes (PODS_STORAGE_EXCEEDED)`;
  const grew = `${stored}: it grew although its API refuses writes, and nothing can be written any more`;
  const raise = "raise spec.limits.bytes above what is stored";
  if (lacksSpace === true)
    return `${grew}; the shared etcd has too little space to let its users delete objects: the operator of the service cluster must make some; or its owner must ${raise} (PODS_STORAGE_SEALED)`;
  if (opensAt === undefined)
    return `${grew}; its owner must ${raise}, or the operator of the service cluster must make space for that, then delete objects (PODS_STORAGE_SEALED)`;
  const at = `${new Date(opensAt).toISOString().slice(0, 19)}Z`;
  return `${grew}; from ${at} on its users can delete objects, which they must do before it grows again; or ${raise} (PODS_STORAGE_SEALED)`;
}

/** One event for each change of the stage: when the condition does not say it yet. */
export function storageEvents({ status }: HostedControlPlane, state: StorageState | undefined): PlannedEvent[] {
  if (state === undefined) return [];
  const known = status?.conditions?.find(({ type }) => type === TYPE);
  const [wanted] = storageConditions(state);
  if (wanted === undefined || known?.reason === wanted.reason) return [];
  if (state.stage !== "Within")
    return [{ type: "Warning", reason: "StorageBudgetExceeded", message: storageMessage(state) }];
  if (known === undefined) return [];
  const message = `it stores ${mebibytes(state.bytes)} of ${mebibytes(state.budget)}: its API accepts writes again`;
  return [{ type: "Normal", reason: "StorageWithinBudget", message }];
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1).replace(/\.0$/, "")} MiB`;
}
