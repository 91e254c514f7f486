/** What an undisturbed demo makes, to hold disturbed ones against. */
export const demoInventory: readonly string[] = inventoryOf({
  "floatingip ID": 1,
  "listener ID listener_0_kube_service_default-demo_default_hello": 1,
  "loadbalancer ID kube_service_default-demo_default_hello": 1,
  "member ID demo-workers-SUFFIX": 3,
  "network ID k8s-clusterapi-cluster-default-demo": 1,
  "pool ID pool_0_kube_service_default-demo_default_hello": 1,
  /** The router's gateway and its interface. */
  "port ID": 2,
  "port ID demo-workers-SUFFIX-0": 3,
  "port ID ovn-lb-vip-ID": 1,
  "router ID k8s-clusterapi-cluster-default-demo": 1,
  "security_group ID default": 1,
  "security_group ID k8s-cluster-default-demo-secgroup-controlplane": 1,
  "security_group ID k8s-cluster-default-demo-secgroup-worker": 1,
  /** Four of the default group, four (egress) of new groups, and 8 + 3 managed ones. */
  "security_group_rule ID": 19,
  "server ID demo-workers-SUFFIX": 3,
  "subnet ID k8s-clusterapi-cluster-default-demo": 1,
});

function inventoryOf(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts)
    .flatMap(([line, count]) => Array.from({ length: count }, () => line))
    .sort();
}
