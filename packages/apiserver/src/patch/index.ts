export { applyJsonPatch } from "./json-patch.ts";
export { applyMergePatch } from "./merge-patch.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export { applyServerSide } from "./apply/apply.ts";
export { applyConflictMessage, type ApplyConflict } from "./apply/conflicts.ts";
export { trackUpdate } from "./apply/track-update.ts";
