import { label, type FieldRule } from "../shared/rules.ts";

/** Rules of RuntimeClasses by field. */
export const RUNTIME_RULES: readonly FieldRule[] = [["handler", label]];
