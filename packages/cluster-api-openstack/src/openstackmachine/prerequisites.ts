import type { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import { isDeleting } from "@causeway/kubernetes";
import type { IdentityState } from "../identity/state.ts";
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
  if (owner.bootstrapSecret === undefined)
    return waiting("WaitingForBootstrapData", "the Machine's bootstrap data: its configuration to join");
  return undefined;
}

/** Where the credentials of a machine are. */
type CredentialsReference = NonNullable<
  OpenStackMachine["spec"]["identityRef"] | OpenStackCluster["spec"]["identityRef"]
>;

/**
 * The credentials that a machine uses, or why its cloud is not opened: there are none, or the machine cannot be made
 * yet and costs no call until then.
 */
export function credentialsOf(
  observed: Pick<Observed, "object" | "owner" | "infrastructure" | "clusterName">,
):
  | { readonly ok: true; readonly reference: CredentialsReference }
  | Extract<IdentityState<never>, { readonly ok: false }> {
  const { object, infrastructure } = observed;
  const reference = object.spec.identityRef ?? infrastructure?.spec.identityRef;
  if (!reference) {
    const message = `The OpenStackCluster that has the credentials of ${object.metadata.name} does not exist`;
    return { ok: false, reason: "InvalidIdentity", message };
  }
  return !isDeleting(object) && missingPrerequisite(observed)
    ? { ok: false, reason: "Waiting", message: "Not needed yet" }
    : { ok: true, reference };
}
