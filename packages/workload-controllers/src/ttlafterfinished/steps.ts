import type { Target } from "../objects/claim.ts";

/** The one step of this controller. */
export interface Step {
  readonly type: "delete-job";
  readonly target: Target;
}
