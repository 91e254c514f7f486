import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a Cluster: writes of objects in the management cluster. */
export type ClusterStep = ObjectStep;
