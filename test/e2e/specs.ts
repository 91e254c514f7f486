/** A spec of the suite that needs no pod to run. */
export interface Spec {
  /** A regular expression that only its full name matches. */
  readonly focus: string;
  /** The provider option of the suite: the tests that take machines away know only those of two public clouds. */
  readonly provider: "skeleton" | "gce";
}

/** docs/reference/e2e.md gives, spec by spec, why the others cannot run without a kubelet that runs pods. */
export const SPECS: readonly Spec[] = [
  { focus: "LoadBalancers.*should handle load balancer cleanup finalizer for service", provider: "skeleton" },
  { focus: "Services.*should complete a service status lifecycle", provider: "skeleton" },
  { focus: "Services.*should delete a collection of services", provider: "skeleton" },
  { focus: "Services.*should find a service from listing all namespaces", provider: "skeleton" },
  { focus: "Services.*should provide secure master service", provider: "skeleton" },
  { focus: "Services.*should prevent NodePort collisions", provider: "skeleton" },
  { focus: "Services.*should check NodePort out-of-range", provider: "skeleton" },
  { focus: "Nodes should be deleted on API server if it doesn't exist in the cloud provider", provider: "gce" },
  { focus: "NodeLease deletion node lease should be deleted when corresponding node is deleted", provider: "gce" },
];
