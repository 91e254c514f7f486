import type { TargetScale } from "./observed.ts";

export interface Step {
  readonly type: "scale";
  readonly target: TargetScale;
  readonly to: number;
  /** As the event says it. */
  readonly reason: string;
}
