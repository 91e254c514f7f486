/** Objects of Cluster API, in its version v1beta2. */
import { INFRASTRUCTURE } from "./infrastructure.ts";
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

/** A machine of the control plane that nobody's controller owns. */
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
