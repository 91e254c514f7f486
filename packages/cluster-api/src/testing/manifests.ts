import type { Cluster, KubeadmConfigTemplate, MachineDeployment } from "@causeway/api";

/** The manifests of a cluster "demo" with workers, as a person writes them. */

const api = (group: string, version = "v1beta2") => `${group}.cluster.x-k8s.io/${version}`;
export const reference = (apiGroup: string, kind: string, name: string) => ({
  apiGroup: `${apiGroup}.cluster.x-k8s.io`,
  kind,
  name,
});

export const cluster: Cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo" },
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } },
    infrastructureRef: reference("infrastructure", "OpenStackCluster", "demo"),
    controlPlaneRef: reference("controlplane", "HostedControlPlane", "demo"),
  },
};
const infrastructure = {
  apiVersion: api("infrastructure"),
  kind: "OpenStackCluster",
  metadata: { name: "demo" },
  spec: { identityRef: { name: "cloud", cloudName: "openstack" } },
};
const controlPlane = {
  apiVersion: api("controlplane", "v1alpha1"),
  kind: "HostedControlPlane",
  metadata: { name: "demo" },
  spec: { version: "v1.34.0" },
};
export const template = (name: string) => ({
  apiVersion: api("infrastructure"),
  kind: "OpenStackMachineTemplate",
  metadata: { name },
  spec: { template: { spec: { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "node" } } } } },
});
const bootstrapTemplate: KubeadmConfigTemplate = {
  apiVersion: api("bootstrap"),
  kind: "KubeadmConfigTemplate",
  metadata: { name: "workers" },
  spec: {
    template: {
      spec: {
        joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }] } },
        preKubeadmCommands: ["swapoff -a"],
      },
    },
  },
};
export const deployment = (replicas: number): MachineDeployment => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDeployment",
  metadata: { name: "workers" },
  spec: {
    clusterName: "demo",
    replicas,
    template: {
      metadata: { labels: { "node-role.kubernetes.io/worker": "" } },
      spec: {
        clusterName: "demo",
        version: "v1.34.0",
        bootstrap: { configRef: reference("bootstrap", "KubeadmConfigTemplate", "workers") },
        infrastructureRef: reference("infrastructure", "OpenStackMachineTemplate", "workers"),
      },
    },
  },
});
export const everything = (replicas: number) => [
  template("workers"),
  bootstrapTemplate,
  infrastructure,
  controlPlane,
  cluster,
  deployment(replicas),
];
