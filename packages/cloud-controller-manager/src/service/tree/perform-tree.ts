import { messageOf } from "@causeway/foundation";
import { isBadRequest, isForbidden, isNotImplemented, isOpenStackNotFound } from "@causeway/openstack";
import {
  errorKey,
  failoverKey,
  methodKey,
  performTree as performTreeStep,
  errorBackoff,
  refusedBackoff,
} from "@causeway/octavia-tree";
import type { StepContext } from "../step-context.ts";
import type { TreeStep } from "../steps.ts";

type PartStep = Exclude<TreeStep, { type: "delete-load-balancer" }>;

/** One change of a load balancer's part. What was read of a pool before is forgotten before it changes. */
export async function performTree(step: PartStep, context: StepContext): Promise<void> {
  const { using, observed, signal } = context;
  switch (step.type) {
    case "failover":
      return failOver(step, context);
    case "update-pool":
      return updatePool(step, context);
    default:
      return performTreeStep(step, { ...using, pools: observed.pools, signal });
  }
}

/** A method that the provider refuses is reported and not sent again; all other changes of the Service continue. */
async function updatePool(
  { id, change }: Extract<PartStep, { type: "update-pool" }>,
  { using, observed, signal }: StepContext,
): Promise<void> {
  try {
    await using.cloud.loadBalancing.pools.update(id, change, { signal });
  } catch (error) {
    const { lb_algorithm: method } = change;
    if (method === undefined || (!isBadRequest(error) && !isNotImplemented(error))) throw error;
    using.backoffs.increase(methodKey(id, method), refusedBackoff);
    const message = `the load balancer provider refused method ${method}: ${messageOf(error)}`;
    using.events.event(observed.service, { type: "Warning", reason: "LoadBalancerLbMethodUnknown", message });
  }
}

/** In most clouds for operators only: refused, it is not requested again. Accepted, it is not repeated too soon. */
async function failOver(
  { id, event }: Extract<PartStep, { type: "failover" }>,
  { using, observed, signal }: StepContext,
): Promise<void> {
  try {
    await using.cloud.loadBalancing.failover(id, { signal });
  } catch (error) {
    if (!isForbidden(error) && !isNotImplemented(error) && !isBadRequest(error) && !isOpenStackNotFound(error))
      throw error;
    using.backoffs.increase(failoverKey(id), refusedBackoff);
    return;
  }
  using.events.event(observed.service, event);
  using.backoffs.increase(errorKey(observed.lbName), errorBackoff);
}
