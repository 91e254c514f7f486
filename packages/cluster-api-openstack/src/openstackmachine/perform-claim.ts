import { IPAddressClaim, labels } from "@causeway/api";
import { isAlreadyExists, isNotFound, removeFinalizer } from "@causeway/kubernetes";
import type { ServerPerformContext } from "./perform-context.ts";
import type { MachineStep } from "./steps.ts";

/** Upstream's: a claim remains until its server is gone. */
const claimFinalizer = "openstackmachine.infrastructure.cluster.x-k8s.io/ip-claim";
const fieldManager = "causeway-openstackmachine";

/**
 * Creates the IPAddressClaim of a machine's floating IP, owned by the machine and with a finalizer of its own. A claim
 * that
 * exists already is accepted.
 */
export async function createClaim(
  { name, pool }: Extract<MachineStep, { type: "create-claim" }>,
  { client, object, events }: ServerPerformContext,
  signal: AbortSignal,
): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const { namespace = "", name: owner, uid = "" } = metadata;
  const cluster = metadata.labels?.[labels.clusterName];
  const claim: IPAddressClaim = {
    apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
    kind: "IPAddressClaim",
    metadata: {
      name,
      namespace,
      finalizers: [claimFinalizer],
      labels: cluster === undefined ? {} : { [labels.clusterName]: cluster },
      ownerReferences: [{ apiVersion, kind, name: owner, uid }],
    },
    spec: { poolRef: pool, ...(cluster === undefined ? {} : { clusterName: cluster }) },
  };
  await client.create(IPAddressClaim, claim, { fieldManager, signal }).catch((error: unknown) => {
    // An earlier attempt whose response was lost; the watch brings the object.
    if (!isAlreadyExists(error)) throw error;
  });
  events.event(object, { type: "Normal", reason: "CreatingIPAddressClaim", message: `Created IPAddressClaim ${name}` });
}

/**
 * Deletes the claim and removes its finalizer, so that the pool's controller releases the floating IP. A claim that is
 * gone
 * is no error.
 */
export async function deleteClaim(
  { name }: Extract<MachineStep, { type: "delete-claim" }>,
  { client, object }: ServerPerformContext,
  signal: AbortSignal,
): Promise<void> {
  const key = { namespace: object.metadata.namespace ?? "", name };
  await client.delete(IPAddressClaim, key, { signal });
  const claim = await client.find(IPAddressClaim, key, { signal });
  if (!claim) return;
  await removeFinalizer(client, IPAddressClaim, claim, { finalizer: claimFinalizer, signal }).catch(
    (error: unknown) => {
      if (!isNotFound(error)) throw error;
    },
  );
}
