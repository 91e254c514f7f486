import { counted, needed, type FieldRule } from "../shared/rules.ts";

export const REVISION_RULES: readonly FieldRule[] = [
  ["data", needed("data is mandatory")],
  ["revision", counted],
];
