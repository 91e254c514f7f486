export { applyJsonPatch } from "./json-patch.ts";
export { applyMergePatch } from "./merge-patch.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export { builtinShape, UNKNOWN_KIND } from "./builtin-shapes.ts";
