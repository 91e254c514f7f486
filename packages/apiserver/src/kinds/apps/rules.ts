import { counted, needed, type FieldRule } from "../shared/rules.ts";

/** Rules of ControllerRevisions by field. */
export const REVISION_RULES: readonly FieldRule[] = [
  ["data", needed("data is mandatory")],
  ["revision", counted],
];
