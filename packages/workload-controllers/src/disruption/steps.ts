import type { Pod } from "@causeway/kubernetes";
import type { BudgetStatus } from "../objects/budget.ts";

/** Refused by the server if the budget changed since it was read: an eviction may have been charged to it. */
export interface Step {
  readonly type: "write-status";
  readonly status: BudgetStatus;
  /** Pods whose eviction was accepted, and that were not deleted. */
  readonly undeleted: readonly Pod[];
}
