/** Objects of Cluster API, in its version v1beta2. */
import { INFRASTRUCTURE, stub } from "./infrastructure.ts";
import type { Json } from "./world.ts";

export function cluster(name: string, endpoint: { host: string; port: number }): Json {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name },
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ["10.244.0.0/16"] } },
      controlPlaneEndpoint: endpoint,
      infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: "StubCluster", name },
    },
  };
}

/** Its version lacks the "v", which defaulting adds. */
export function machineDeployment(name: string, replicas: number): Json {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDeployment",
    metadata: { name },
    spec: {
      clusterName: name,
      replicas,
      selector: {},
      template: {
        spec: {
          clusterName: name,
          version: "1.34.4",
          bootstrap: { dataSecretName: `${name}-boot` },
          infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: "StubMachineTemplate", name },
        },
      },
    },
  };
}

/** A control-plane machine without an owning controller. */
export function controlPlaneMachine(name: string): Json {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { name: `${name}-control-plane`, labels: { "cluster.x-k8s.io/control-plane": "" } },
    spec: {
      clusterName: name,
      version: "v1.34.4",
      bootstrap: { dataSecretName: `${name}-boot` },
      infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: "StubMachine", name: `${name}-control-plane` },
    },
  };
}

const template = (kind: string, name: string): Json => ({
  templateRef: { apiVersion: `${INFRASTRUCTURE}/v1beta2`, kind, name },
});

/** A ClusterClass with what it refers to; all of that name. */
export function clusterClass(name: string): Json[] {
  const kubeadm = (room: string, kind: string): Json => ({
    templateRef: { apiVersion: `${room}.cluster.x-k8s.io/v1beta2`, kind, name },
  });
  const configuration = { format: "cloud-config" };
  const workers = {
    class: "plain",
    bootstrap: kubeadm("bootstrap", "KubeadmConfigTemplate"),
    infrastructure: template("StubMachineTemplate", name),
  };
  return [
    stub("StubClusterTemplate", name, { template: { spec: {} } }),
    stub("StubMachineTemplate", name, { template: { spec: {} } }),
    {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmConfigTemplate",
      metadata: { name },
      spec: { template: { spec: configuration } },
    },
    {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmControlPlaneTemplate",
      metadata: { name },
      spec: { template: { spec: { kubeadmConfigSpec: configuration } } },
    },
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "ClusterClass",
      metadata: { name },
      spec: {
        infrastructure: template("StubClusterTemplate", name),
        controlPlane: {
          ...kubeadm("controlplane", "KubeadmControlPlaneTemplate"),
          machineInfrastructure: template("StubMachineTemplate", name),
        },
        workers: { machineDeployments: [workers] },
      },
    },
  ];
}

/** A Cluster of that class, with one machine of its control plane and one worker. */
export function classyCluster(name: string): Json {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name },
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ["10.245.0.0/16"] } },
      topology: {
        classRef: { name },
        version: "v1.34.4",
        controlPlane: { replicas: 1 },
        workers: { machineDeployments: [{ class: "plain", name: "few", replicas: 1 }] },
      },
    },
  };
}
