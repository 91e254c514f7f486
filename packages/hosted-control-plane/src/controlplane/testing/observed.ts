import type { Cluster, HostedControlPlane } from "@causeway/api";
import type { Observed } from "../gather.ts";
import { finalizer } from "../plan.ts";

const pair = { certificate: "certificate", key: "key" };

/** A control plane that has its roots and does not run. */
export function observedWith(cluster: Cluster, changes: Partial<Observed> = {}): Observed {
  const object = {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { namespace: "team", name: "web", generation: 1, finalizers: [finalizer] },
    spec: { version: "v1.34.0" },
  } as HostedControlPlane;
  return {
    object,
    cluster,
    roots: { ca: pair, proxy: pair, sa: pair },
    authorities: undefined,
    kubeconfig: undefined,
    trustedSerials: undefined,
    kubeconfigSecret: undefined,
    etcd: undefined,
    namespaceTerminates: false,
    state: undefined,
    exists: false,
    initialized: false,
    defaults: { host: "10.0.0.9" },
    ...changes,
  };
}
