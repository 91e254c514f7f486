import type { Observed } from "./gather.ts";
import type { Placement } from "./nodes.ts";

export interface Facts {
  readonly observed: Observed;
  readonly placement: Placement;
  /** Of the revision of the template. */
  readonly hash: string;
  readonly now: number;
}
