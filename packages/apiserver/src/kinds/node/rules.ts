import { label, type FieldRule } from "../shared/rules.ts";

export const RUNTIME_RULES: readonly FieldRule[] = [["handler", label]];
