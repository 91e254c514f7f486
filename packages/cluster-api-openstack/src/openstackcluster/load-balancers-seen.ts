import { isForbidden, type CloudWatch } from "@causeway/openstack";

/** How Octavia marks the ports of virtual IPs, of every provider. */
const OCTAVIA = "Octavia";
const NAMES = ["octavia-lb-", "ovn-lb-vip-"];

/**
 * Starts the list of load balancers that the deletion of a cluster without a load balancer of its own checks. False:
 * Octavia lets this user see none (by default it asks for a role of its own), and none can be there, since no port of
 * one is on the cluster's networks. Such a user can create a cluster with a hosted control plane, and has to be able to
 * delete it. @throws OPENSTACK_FORBIDDEN when there is such a port
 */
export async function seesLoadBalancers(
  start: () => Promise<void>,
  ports: Pick<CloudWatch["ports"], "list">,
  networks: ReadonlySet<string>,
): Promise<boolean> {
  try {
    await start();
    return true;
  } catch (error) {
    const isOfBalancer = ports
      .list()
      .some(
        ({ network_id, device_owner, name }) =>
          networks.has(network_id) &&
          (device_owner === OCTAVIA || NAMES.some((beginning) => name.startsWith(beginning))),
      );
    if (!isForbidden(error) || isOfBalancer) throw error;
    return false;
  }
}
