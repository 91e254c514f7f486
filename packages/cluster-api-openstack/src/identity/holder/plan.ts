import type { Plan, Secret } from "@causeway/kubernetes";
import type { Step } from "./steps.ts";

/** Keeps a Secret with credentials as long as something needs them to be deleted. */
export const identityFinalizer = "infrastructure.cluster.x-k8s.io/openstack-identity";

/** What the plan of one Secret is made from. */
export interface Observed {
  readonly secret: Secret;
  /** An OpenStackCluster or an OpenStackMachine names it. */
  readonly isUsed: boolean;
}

/**
 * Deleting a namespace deletes its credentials too, in any order, and without them the controllers could not delete the
 * cloud's resources. So each Secret that an object names is held until the last such object is gone.
 */
export function plan(observed: Observed): Plan<Step, undefined> {
  const { finalizers, deletionTimestamp } = observed.secret.metadata;
  const isHeld = finalizers?.includes(identityFinalizer) === true;
  if (observed.isUsed && !isHeld && deletionTimestamp === undefined)
    return { steps: [{ type: "hold" }], status: undefined };
  return { steps: !observed.isUsed && isHeld ? [{ type: "release" }] : [], status: undefined };
}
