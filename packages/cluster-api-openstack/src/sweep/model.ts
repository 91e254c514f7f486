import type * as OpenStack from "@causeway/openstack";

/** What a sweep is planned from. */
export interface SweepObserved {
  readonly projectId: string;
  readonly networks: readonly OpenStack.Network[];
  readonly subnets: readonly OpenStack.Subnet[];
  readonly routers: readonly OpenStack.Router[];
  readonly ports: readonly OpenStack.Port[];
  readonly securityGroups: readonly OpenStack.SecurityGroup[];
  readonly floatingIps: readonly OpenStack.FloatingIp[];
  readonly loadBalancers: readonly OpenStack.LoadBalancer[];
  readonly servers: readonly OpenStack.Server[];
  readonly volumes: readonly OpenStack.Volume[];
  /** "namespace-name" of every cluster that the management cluster has an object of. */
  readonly living: ReadonlySet<string>;
}

/** The kinds of resources that a sweep finds, as its output names them. */
export type OrphanKind =
  | "server"
  | "volume"
  | "trunk"
  | "port"
  | "load balancer"
  | "floating IP"
  | "router"
  | "network"
  | "security group";

/** A resource of a cluster that is gone. */
export interface ClusterOrphan {
  readonly kind: OrphanKind;
  readonly id: string;
  readonly name: string;
  /** "namespace-name", as names and descriptions in the cloud have it. */
  readonly cluster: string;
  /** Why it is not deleted. */
  readonly kept?: string;
  /** Of a trunk: its subports. Of a router: what has to be removed from it first. */
  readonly subports?: readonly string[];
  readonly interfaces?: readonly string[];
  readonly routes?: readonly OpenStack.Route[];
}
