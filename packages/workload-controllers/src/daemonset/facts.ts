import type { Observed } from "./gather.ts";
import type { Placement } from "./nodes.ts";

/** What the parts of the plan have in common: what was gathered, by node, and the time. */
export interface Facts {
  readonly observed: Observed;
  readonly placement: Placement;
  /** Of the revision of the template. */
  readonly hash: string;
  readonly now: number;
}
