import type { Observed } from "./model.ts";
import { waiting, type Outcome } from "./outcome.ts";

/**
 * What must exist before the first request to OpenStack, as an outcome that waits for it. A machine that has a server
 * needs none of it.
 */
export function missingPrerequisite({
  object,
  owner,
  infrastructure,
  clusterName,
}: Pick<Observed, "object" | "owner" | "infrastructure" | "clusterName">): Outcome | undefined {
  if (object.spec.providerID !== undefined) return undefined;
  if (clusterName === undefined || !owner)
    return waiting("WaitingForMachine", "a Machine that owns this OpenStackMachine");
  if (infrastructure?.status?.initialization?.provisioned !== true) {
    return waiting("WaitingForClusterInfrastructure", "the cluster's network and security groups");
  }
  if (owner.bootstrapSecret === undefined) return waiting("WaitingForBootstrapData", "bootstrap data of the Machine");
  return undefined;
}
