import type { Target } from "../objects/claim.ts";

export interface Step {
  readonly type: "delete-job";
  readonly target: Target;
}
