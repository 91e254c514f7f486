import { oneOf, type FieldRule } from "../shared/rules.ts";

export const PRIORITY_RULES: readonly FieldRule[] = [["preemptionPolicy", oneOf("PreemptLowerPriority", "Never")]];
