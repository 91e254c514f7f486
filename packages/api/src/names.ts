/** Well-known names of Cluster API (contract v1beta2) and ours. Keys say what, values are what the wire carries. */

/** Labels of Cluster API on objects, Nodes and CRDs. */
export const labels = {
  clusterName: "cluster.x-k8s.io/cluster-name",
  controlPlane: "cluster.x-k8s.io/control-plane",
  controlPlaneName: "cluster.x-k8s.io/control-plane-name",
  deploymentName: "cluster.x-k8s.io/deployment-name",
  setName: "cluster.x-k8s.io/set-name",
  poolName: "cluster.x-k8s.io/pool-name",
  provider: "cluster.x-k8s.io/provider",
  machineTemplateHash: "machine-template-hash",
  drain: "cluster.x-k8s.io/drain",
  watchFilter: "cluster.x-k8s.io/watch-filter",
  topologyOwned: "topology.cluster.x-k8s.io/owned",
  topologyDeploymentName: "topology.cluster.x-k8s.io/deployment-name",
  topologyPoolName: "topology.cluster.x-k8s.io/pool-name",
} as const;

/** Annotations of Cluster API on its objects and on Nodes, and those of ours on Clusters. */
export const annotations = {
  paused: "cluster.x-k8s.io/paused",
  managedBy: "cluster.x-k8s.io/managed-by",
  remediateMachine: "cluster.x-k8s.io/remediate-machine",
  skipRemediation: "cluster.x-k8s.io/skip-remediation",
  deleteMachine: "cluster.x-k8s.io/delete-machine",
  disableMachineCreate: "cluster.x-k8s.io/disable-machine-create",
  clonedFromName: "cluster.x-k8s.io/cloned-from-name",
  clonedFromGroupKind: "cluster.x-k8s.io/cloned-from-groupkind",
  labelsFromMachine: "cluster.x-k8s.io/labels-from-machine",
  annotationsFromMachine: "cluster.x-k8s.io/annotations-from-machine",
  taintsFromMachine: "cluster.x-k8s.io/taints-from-machine",
  clusterName: "cluster.x-k8s.io/cluster-name",
  clusterNamespace: "cluster.x-k8s.io/cluster-namespace",
  machine: "cluster.x-k8s.io/machine",
  /**
   * On a Machine: labels of its Node as a JSON object, in addition to those of the Machine that go over to it; null
   * takes one from the Node.
   */
  nodeLabels: "causeway.dev/node-labels",
  /** On a MachineSet: how many names of its Machines have been given; none of them is given again. */
  machineNamesGiven: "causeway.dev/machine-names-given",
  ownerKind: "cluster.x-k8s.io/owner-kind",
  ownerName: "cluster.x-k8s.io/owner-name",
  /** "true" lets an object take over resources with its names that it has no proof to have created. */
  adoptResources: "causeway.dev/adopt-resources",
  /** On a Cluster: "none" keeps the controllers of Cinder volumes, and a StorageClass of theirs, out of it. */
  volumes: "causeway.dev/volumes",
  /** On a Cluster: "octavia" runs the controllers of Ingresses and Gateways on Octavia for it. */
  ingress: "causeway.dev/ingress",
  /** On a Cluster: Octavia's provider for load balancers of its Services that are created from then on. */
  loadBalancerProvider: "causeway.dev/load-balancer-provider",
  /** On a Cluster: the algorithm of its Services' pools, such as SOURCE_IP; a Service's own annotation comes first. */
  loadBalancerMethod: "causeway.dev/load-balancer-method",
  /** On a Cluster: "true" monitors the members of its Services' pools; a Service's own annotation comes first. */
  loadBalancerMonitor: "causeway.dev/load-balancer-monitor",
  /** On a Cluster that was migrated: the name by which load balancers and volumes in the cloud are its own. */
  cloudClusterName: "causeway.dev/cloud-cluster-name",
  excludeNodeDraining: "machine.cluster.x-k8s.io/exclude-node-draining",
  excludeVolumeDetach: "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach",
  preDrainHookPrefix: "pre-drain.delete.hook.machine.cluster.x-k8s.io",
  preTerminateHookPrefix: "pre-terminate.delete.hook.machine.cluster.x-k8s.io",
  revision: "machinedeployment.clusters.x-k8s.io/revision",
  desiredReplicas: "machinedeployment.clusters.x-k8s.io/desired-replicas",
  certificatesExpiry: "machine.cluster.x-k8s.io/certificates-expiry",
  remediationInProgress: "controlplane.cluster.x-k8s.io/remediation-in-progress",
  remediationFor: "controlplane.cluster.x-k8s.io/remediation-for",
  skipPreflightChecks: "machineset.cluster.x-k8s.io/skip-preflight-checks",
  skipCoreDns: "controlplane.cluster.x-k8s.io/skip-coredns",
  skipKubeProxy: "controlplane.cluster.x-k8s.io/skip-kube-proxy",
  maxReplicas: "machinedeployment.clusters.x-k8s.io/max-replicas",
  deferUpgrade: "topology.cluster.x-k8s.io/defer-upgrade",
  holdUpgradeSequence: "topology.cluster.x-k8s.io/hold-upgrade-sequence",
  upgradeConcurrency: "topology.cluster.x-k8s.io/upgrade-concurrency",
  topologyDryRun: "topology.cluster.x-k8s.io/dry-run",
  upgradeStep: "topology.internal.cluster.x-k8s.io/upgrade-step",
  disableVersionCheck: "unsafe.topology.cluster.x-k8s.io/disable-update-version-check",
} as const;

/** On each object that an add-on has in a workload cluster: the name of its AddonSet. */
export const addonSetLabel = "addons.causeway.dev/set";

/** Finalizers of the controllers of Cluster API's kinds. */
export const finalizers = {
  cluster: "cluster.cluster.x-k8s.io",
  machine: "machine.cluster.x-k8s.io",
  machineSet: "cluster.x-k8s.io/machineset",
  machineDeployment: "cluster.x-k8s.io/machinedeployment",
  machinePool: "machinepool.cluster.x-k8s.io",
  kubeadmControlPlane: "kubeadm.controlplane.cluster.x-k8s.io",
  clusterResourceSet: "addons.cluster.x-k8s.io",
} as const;

/** Taints of Cluster API on Nodes: until they are initialized, and since a rollout that replaces them. */
export const taints = {
  uninitialized: "node.cluster.x-k8s.io/uninitialized",
  outdatedRevision: "node.cluster.x-k8s.io/outdated-revision",
} as const;

/** Type of every Secret that belongs to a cluster: certificates, kubeconfig, bootstrap data. */
export const clusterSecretType = "cluster.x-k8s.io/secret";

/** Type of the Secrets that a ClusterResourceSet applies. */
export const resourceSetSecretType = "addons.cluster.x-k8s.io/resource-set";

/** Label of a CRD that serves the contract, with the versions that do. */
export const contractLabels = { "cluster.x-k8s.io/v1beta2": "v1beta2" } as const;
