import { annotations, labels, type Machine, type OpenStackMachine } from "@causeway/api";
import { getCondition, isDeleting, type Informer } from "@causeway/kubernetes";

/**
 * A pre-terminate hook of Cluster API on a deleted Machine of a control plane. The control plane removes the machine's
 * member of etcd once no other hook is there, and the API server next to it responds no more: it leaves the load
 * balancer of the API first. The value is when the other stages of the deletion were over, or empty before.
 */
export const endpointHook = `${annotations.preTerminateHookPrefix}/openstack-endpoint`;

/** The reason of Deleting while hooks keep the machine: a contract of Cluster API. */
const WAITING_FOR_PRE_TERMINATE_HOOK = "WaitingForPreTerminateHook";

/** The owning Machine while it is being deleted. */
export interface LeavingOwner {
  readonly uid: string | undefined;
  /** The value of `endpointHook`; undefined: the Machine does not have it. */
  readonly hook: string | undefined;
  /** It is drained; nothing but hooks keeps it. */
  readonly isTerminating: boolean;
}

/** The deletion of a Machine; undefined while it is not being deleted. */
export function leavingOwner({ metadata, status }: Machine): LeavingOwner | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const isTerminating = getCondition(status?.conditions, "Deleting")?.reason === WAITING_FOR_PRE_TERMINATE_HOOK;
  return { uid: metadata.uid, hook: metadata.annotations?.[endpointHook], isTerminating };
}

/** The Machine that owns an OpenStackMachine. */
export function machineOf(owners: Informer<Machine>, { metadata }: OpenStackMachine): Machine | undefined {
  const reference = metadata.ownerReferences?.find((r) => r.kind === "Machine");
  return reference && owners.get({ namespace: metadata.namespace ?? "", name: reference.name });
}

/** Whether a machine of the control plane serves on: neither it nor its Machine is on its way out. */
export function isStaying(machine: OpenStackMachine, owners: Informer<Machine>): boolean {
  if (machine.metadata.labels?.[labels.controlPlane] === undefined || isDeleting(machine)) return false;
  const owner = machineOf(owners, machine);
  return owner === undefined || leavingOwner(owner)?.isTerminating !== true;
}
