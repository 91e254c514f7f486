import { oneOf, type FieldRule } from "../shared/rules.ts";

/** Rules of PriorityClasses by field. */
export const PRIORITY_RULES: readonly FieldRule[] = [["preemptionPolicy", oneOf("PreemptLowerPriority", "Never")]];
