import type { Point } from "./points.ts";

/** Take a point: all data, or what changed since `parent`; delete one, or what is left of points that never were. */
export type Step =
  | { readonly type: "take"; readonly parent?: Point }
  | { readonly type: "delete"; readonly point: Point }
  | { readonly type: "sweep" };
