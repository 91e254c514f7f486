export { applyJsonPatch } from "./json-patch.ts";
export { applyMergePatch } from "./merge-patch.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export { builtinShape } from "./builtin-shapes.ts";
export { applyServerSide, type ApplyRequest, type ApplyResult } from "./apply/apply.ts";
export { applyConflictMessage, type ApplyConflict } from "./apply/conflicts.ts";
export { trackUpdate, type UpdateToTrack } from "./apply/track-update.ts";
