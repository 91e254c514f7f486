/**
 * A Cluster without a control-plane provider: three Machines of its control plane, a MachineDeployment, and an
 * OpenStackCluster with a load balancer.
 */
import { INFRASTRUCTURE } from "../../programs/cluster-api/infrastructure.ts";

type Json = Record<string, unknown>;

const CORE = "cluster.x-k8s.io";
const VERSION = "v1.34.4";

export interface BenchCluster {
  readonly name: string;
  readonly controlPlanes: number;
  readonly workers: number;
  /** A clouds.yaml with the entry "simulator". */
  readonly cloudsYaml: string;
  /** Of the workload cluster. */
  readonly kubeconfig: string;
}

export function objectsOf(cluster: BenchCluster): readonly Json[] {
  const { name, cloudsYaml, kubeconfig } = cluster;
  const control = Array.from({ length: cluster.controlPlanes }, (_, i) => controlPlane(name, `${name}-control-${i}`));
  return [
    secret(name, "kubeconfig", { value: kubeconfig }),
    secret(name, "boot", { value: "#cloud-config" }),
    secret(name, "cloud-config", { "clouds.yaml": cloudsYaml }),
    openStack("OpenStackCluster", name, name, {
      apiServerLoadBalancer: { enabled: true },
      externalNetwork: { filter: { name: "public" } },
      identityRef: { type: "Secret", cloudName: "simulator", name: `${name}-cloud-config` },
      managedSecurityGroups: { allowAllInClusterTraffic: true },
      managedSubnets: [{ cidr: "10.6.0.0/20", dnsNameservers: ["192.0.2.53"] }],
    }),
    openStack("OpenStackMachineTemplate", name, name, { template: { spec: MACHINE } }),
    core("Cluster", name, name, {
      clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } },
      infrastructureRef: infrastructure("OpenStackCluster", name),
    }),
    ...control.flat(),
    core("MachineDeployment", name, name, {
      clusterName: name,
      replicas: cluster.workers,
      selector: {},
      template: { spec: machineOf(name, infrastructure("OpenStackMachineTemplate", name)) },
    }),
  ];
}

const MACHINE: Json = { flavor: "m1.small", image: { filter: { name: "cirros" } } };

function controlPlane(cluster: string, name: string): Json[] {
  const labels = { [`${CORE}/control-plane`]: "" };
  return [
    openStack("OpenStackMachine", cluster, name, MACHINE, labels),
    core("Machine", cluster, name, machineOf(cluster, infrastructure("OpenStackMachine", name)), labels),
  ];
}

function machineOf(cluster: string, infrastructureRef: Json): Json {
  const bootstrap = { dataSecretName: `${cluster}-boot` };
  return { clusterName: cluster, version: VERSION, bootstrap, infrastructureRef };
}

function infrastructure(kind: string, name: string): Json {
  return { apiGroup: INFRASTRUCTURE, kind, name };
}

function metadata(cluster: string, name: string, labels: Json = {}): Json {
  return { name, namespace: "default", labels: { ...labels, [`${CORE}/cluster-name`]: cluster } };
}

function secret(cluster: string, suffix: string, stringData: Readonly<Record<string, string>>): Json {
  const type = "cluster.x-k8s.io/secret";
  return { apiVersion: "v1", kind: "Secret", metadata: metadata(cluster, `${cluster}-${suffix}`), type, stringData };
}

function core(kind: string, cluster: string, name: string, spec: Json, labels?: Json): Json {
  return { apiVersion: `${CORE}/v1beta2`, kind, metadata: metadata(cluster, name, labels), spec };
}

function openStack(kind: string, cluster: string, name: string, spec: Json, labels?: Json): Json {
  return { apiVersion: `${INFRASTRUCTURE}/v1beta1`, kind, metadata: metadata(cluster, name, labels), spec };
}
