import { labels, type OpenStackMachine } from "@causeway/api";
import type { MemberCreate, Subnet } from "@causeway/openstack";
import { parseCidr } from "../resources/cidr.ts";
import type { ClusterContext } from "./model.ts";

/** Whether label cluster.x-k8s.io/control-plane is there, whatever its value: such a machine serves the API. */
export function isControlPlane(machine: OpenStackMachine): boolean {
  return machine.metadata.labels?.[labels.controlPlane] !== undefined;
}

/**
 * One member per control-plane machine that runs, has an address on the cluster's network, and is not being deleted.
 */
export function desiredMembers(
  context: ClusterContext,
  poolName: string,
  port: number,
  subnets: readonly Subnet[],
): MemberCreate[] {
  return context.machines
    .filter((m) => isControlPlane(m) && m.metadata.deletionTimestamp === undefined && isRunning(m))
    .flatMap((machine) => {
      const internal = (machine.status?.addresses ?? []).filter((a) => a.type === "InternalIP").map((a) => a.address);
      const address = internal.find((a) => subnets.some((s) => parseCidr(s.cidr)?.contains(a)));
      return address === undefined
        ? []
        : [{ address, protocol_port: port, name: `${poolName}-${machine.metadata.name}`, tags: [...context.tags] }];
    })
    .sort((a, b) => a.address.localeCompare(b.address));
}

/**
 * Upstream's provider (v0.14) records no state of the server: a machine that it provisioned serves until ours has
 * read it.
 */
function isRunning({ status }: OpenStackMachine): boolean {
  return status?.instanceState === undefined
    ? status?.initialization?.provisioned === true
    : status.instanceState === "ACTIVE";
}
