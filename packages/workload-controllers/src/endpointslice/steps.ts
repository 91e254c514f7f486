import type { SliceStep } from "../objects/slices.ts";

/** Writes of EndpointSlices, as the other controller of slices has them. */
export type Step = SliceStep;
