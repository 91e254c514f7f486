import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a ClusterClass: patches of its templates. */
export type ClassStep = ObjectStep;
