import type { Port, SecurityGroup } from "@causeway/openstack";

/** What the cloud has of the security group that lets an owner's load balancer reach the nodes. */
export interface ObservedGroup {
  /** The configuration file says so; false: only what an earlier configuration left is deleted. */
  readonly managed: boolean;
  /** The owner's, by its tag or its name. */
  readonly groups: readonly SecurityGroup[];
  /** All ports of the servers of the nodes that are members, or the ports of the pods that are. */
  readonly memberPorts: readonly Port[];
  /** Ports that have one of the groups. */
  readonly grouped: readonly Port[];
  /** Of the load balancer's subnet; undefined: the subnet does not exist. */
  readonly cidr: string | undefined;
}
