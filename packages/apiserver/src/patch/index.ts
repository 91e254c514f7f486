export { applyJsonPatch } from "./json-patch.ts";
export { applyMergePatch } from "./merge-patch.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export { applyServerSide } from "./apply/apply.ts";
export { applyConflictMessage, type ApplyConflict } from "./apply/conflicts.ts";
export { trackUpdate } from "./apply/track-update.ts";
export { EMPTY as NO_FIELDS, pathsSet, type FieldSet } from "./apply/field-set.ts";
export type { Typed } from "./apply/ownership.ts";
export { BuiltInTypes } from "./built-in-types.ts";
