import { isDeleting } from "@causeway/kubernetes";
import type { OpenStackMachine } from "@causeway/api";
import type { Observed } from "./model.ts";

/** Lists of the cloud that a plan wants read soon: what it waits for changes without a step of ours. */
export type ListNames = readonly ("servers" | "volumes")[];

/** Whether the spec asks for Cinder volumes: a root volume, or an additional block device of type Volume. */
export function usesVolumes({ spec }: OpenStackMachine): boolean {
  return spec.rootVolume !== undefined || (spec.additionalBlockDevices ?? []).some((d) => d.storage.type === "Volume");
}

/**
 * Changes that follow from our own, in types whose informers cannot emit that they are due: Nova lists an attached
 * floating IP a moment later, and volumes are released after their server is gone.
 */
export function listsToRefresh(observed: Observed, waits: boolean): ListNames {
  const { object } = observed;
  const releasesVolumes = waits && isDeleting(object) && usesVolumes(object);
  return [
    ...(lacksAddress(observed) ? (["servers"] as const) : []),
    ...(releasesVolumes ? (["volumes"] as const) : []),
  ];
}

/** The claimed floating IP is attached, and the server's addresses do not have it yet. */
function lacksAddress({ object, claim, identity }: Observed): boolean {
  const { address } = claim ?? {};
  if (address === undefined || !identity.ok || isDeleting(object)) return false;
  const { floatingIps = [], servers } = identity.cloud;
  const attached = floatingIps.some((ip) => ip.floating_ip_address === address && ip.port_id !== null);
  const own = servers.find(({ id }) => id === object.status?.instanceID);
  const listed = Object.values(own?.addresses ?? {}).flat();
  return attached && own !== undefined && !listed.some(({ addr }) => addr === address);
}
