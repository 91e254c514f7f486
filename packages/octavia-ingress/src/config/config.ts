/** What the configuration file says about load balancers; an IngressClass's parameters may say otherwise. */
export interface BalancerDefaults {
  readonly provider: string | undefined;
  readonly subnetId: string;
  readonly floatingNetworkId: string | undefined;
  readonly flavorId: string | undefined;
  /** Members are sent one by one. */
  readonly serial: boolean;
}

export interface IngressConfig {
  readonly clusterName: string;
  readonly balancer: BalancerDefaults;
  /** A security group for each load balancer lets it reach the node ports of its members. */
  readonly manageSecurityGroups: boolean;
}
