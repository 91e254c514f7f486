import type { TargetScale } from "./observed.ts";

/** The one step of this controller: a write to the subresource `scale` of the target. */
export interface Step {
  readonly type: "scale";
  readonly target: TargetScale;
  readonly to: number;
  /** As the event says it. */
  readonly reason: string;
}
