/** Where members are: at the node ports of nodes, or at the addresses of pods. */
export const MEMBER_PLACES = ["nodes", "pods"] as const;
/** "nodes" or "pods". */
export type MemberPlace = (typeof MEMBER_PLACES)[number];

/** What the configuration file says about load balancers; an IngressClass's parameters may say otherwise. */
export interface BalancerDefaults {
  readonly provider: string | undefined;
  readonly subnetId: string;
  readonly floatingNetworkId: string | undefined;
  readonly flavorId: string | undefined;
  /** Members are sent one by one. */
  readonly serial: boolean;
  /** Default nodes. */
  readonly members?: MemberPlace;
}

/** The settings of the controller's configuration file. */
export interface IngressConfig {
  readonly clusterName: string;
  readonly balancer: BalancerDefaults;
  /** A security group for each load balancer lets it reach the node ports of its members. */
  readonly manageSecurityGroups: boolean;
}
