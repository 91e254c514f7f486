import { oneOf, share, type FieldRule } from "../shared/rules.ts";

/** Rules of PodDisruptionBudgets by field. */
export const BUDGET_RULES: readonly FieldRule[] = [
  ["spec.minAvailable", share],
  ["spec.maxUnavailable", share],
  ["spec.unhealthyPodEvictionPolicy", oneOf("AlwaysAllow", "IfHealthyBudget")],
];
