/** What the managers may do in the management cluster. */

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

const all = ["create", "delete", "get", "list", "patch", "update", "watch"];
const read = ["get", "list", "watch"];
const providerGroups = [
  "bootstrap.cluster.x-k8s.io",
  "controlplane.cluster.x-k8s.io",
  "infrastructure.cluster.x-k8s.io",
];

/** What every manager needs: its Lease, events, and the reviews of those who read its metrics. */
const common: readonly Rule[] = [
  { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create", "get", "update"] },
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: read },
];

/** Of the manager of Clusters, Machines, ClusterResourceSets and the like. */
export const coreRules: readonly Rule[] = [
  ...common,
  // What ClusterResourceSets apply is owned by them.
  { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: [...read, "patch"] },
  // The selectors of runtime extensions.
  { apiGroups: [""], resources: ["namespaces"], verbs: read },
  {
    apiGroups: ["cluster.x-k8s.io", "addons.cluster.x-k8s.io", "ipam.cluster.x-k8s.io", "runtime.cluster.x-k8s.io"],
    resources: ["*"],
    verbs: all,
  },
  { apiGroups: providerGroups, resources: ["*"], verbs: all },
];

/** Of the manager that makes bootstrap data. */
export const bootstrapRules: readonly Rule[] = [
  ...common,
  { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: all },
  { apiGroups: ["cluster.x-k8s.io"], resources: ["*"], verbs: read },
  { apiGroups: ["bootstrap.cluster.x-k8s.io"], resources: ["*"], verbs: all },
  { apiGroups: providerGroups, resources: ["*"], verbs: read },
];

/** Of the manager of KubeadmControlPlanes. */
export const controlPlaneRules: readonly Rule[] = [
  ...common,
  { apiGroups: [""], resources: ["secrets"], verbs: all },
  { apiGroups: ["cluster.x-k8s.io"], resources: ["*"], verbs: read },
  { apiGroups: ["cluster.x-k8s.io"], resources: ["machines", "machines/status"], verbs: all },
  { apiGroups: providerGroups, resources: ["*"], verbs: all },
];

/** Of the manager of OpenStackClusters and OpenStackMachines. */
export const infrastructureRules: readonly Rule[] = [
  ...common,
  { apiGroups: [""], resources: ["namespaces"], verbs: read },
  // A Secret with credentials is kept until the last object that names it is gone.
  { apiGroups: [""], resources: ["secrets"], verbs: [...read, "patch", "update"] },
  { apiGroups: ["cluster.x-k8s.io"], resources: ["*"], verbs: read },
  // The hook of a control plane's Machine that leaves the load balancer of the API.
  { apiGroups: ["cluster.x-k8s.io"], resources: ["machines"], verbs: ["patch"] },
  { apiGroups: ["infrastructure.cluster.x-k8s.io"], resources: ["*"], verbs: all },
  { apiGroups: ["ipam.cluster.x-k8s.io"], resources: ["*"], verbs: all },
  { apiGroups: ["openstack.k-orc.cloud"], resources: ["images"], verbs: read },
];
