import {
  isAlreadyExists,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import {
  Cluster,
  HostedControlPlane,
  KubeadmConfigTemplate,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachineTemplate,
} from "@causeway/api";

/** An object to apply, with the type that says where. */
export interface Manifest<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  readonly object: T;
}

/** What a cluster with a hosted control plane and one set of workers is made from. */
export interface ClusterPlan {
  readonly namespace: string;
  readonly name: string;
  /** Kubernetes version, "v1.34.0". */
  readonly version: string;
  readonly replicas: number;
  readonly flavor: string;
  readonly image: string;
  /** A clouds.yaml with the entry `cloudName`. */
  readonly cloudsYaml: string;
  readonly cloudName: string;
}

/** The name of a cluster's set of workers. */
export function workersOf(name: string): string {
  return `${name}-workers`;
}

/** An object with the type that it has. */
export function manifest<T extends KubeObject>(type: ResourceType<T>, object: T): Manifest {
  return { type, object };
}

/** A cluster, in the order in which it is applied: the Cluster comes last, so that it is there only when all of it is. */
export function clusterManifests(options: ClusterPlan): readonly Manifest[] {
  const { namespace, name, version } = options;
  const workers = workersOf(name);
  const metadata = (object: string) => ({ name: object, namespace, labels: { "cluster.x-k8s.io/cluster-name": name } });
  const infrastructure = { apiGroup: "infrastructure.cluster.x-k8s.io" };
  return [
    manifest(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        ...metadata(`${name}-cloud-config`),
        labels: { ...metadata(name).labels, "clusterctl.cluster.x-k8s.io/move": "true" },
      },
      data: { "clouds.yaml": Buffer.from(options.cloudsYaml, "utf8").toString("base64") },
    }),
    manifest(OpenStackMachineTemplate, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackMachineTemplate",
      metadata: metadata(workers),
      spec: {
        template: {
          spec: { flavor: { filter: { name: options.flavor } }, image: { filter: { name: options.image } } },
        },
      },
    }),
    manifest(KubeadmConfigTemplate, {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmConfigTemplate",
      metadata: metadata(workers),
      spec: {
        template: {
          spec: {
            joinConfiguration: {
              nodeRegistration: {
                name: "{{ local_hostname }}",
                kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }],
              },
            },
          },
        },
      },
    }),
    manifest(OpenStackCluster, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackCluster",
      metadata: metadata(name),
      spec: {
        identityRef: { type: "Secret", name: `${name}-cloud-config`, cloudName: options.cloudName },
        managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }],
        managedSecurityGroups: { allowAllInClusterTraffic: true },
        apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
      },
    }),
    manifest(HostedControlPlane, {
      apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
      kind: "HostedControlPlane",
      metadata: metadata(name),
      spec: { version },
    }),
    manifest(MachineDeployment, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineDeployment",
      metadata: metadata(workers),
      spec: {
        clusterName: name,
        replicas: options.replicas,
        template: {
          spec: {
            clusterName: name,
            version,
            bootstrap: {
              configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: workers },
            },
            infrastructureRef: { ...infrastructure, kind: "OpenStackMachineTemplate", name: workers },
          },
        },
      },
    }),
    manifest(Cluster, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: metadata(name),
      spec: {
        clusterNetwork: { services: { cidrBlocks: ["10.96.0.0/12"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
        infrastructureRef: { ...infrastructure, kind: "OpenStackCluster", name },
        controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
      },
    }),
  ];
}

/** Creates what does not exist yet, in this order. Repeating it after an attempt that ended in between creates the rest. */
export async function createMissing(
  client: KubernetesClient,
  manifests: readonly Manifest[],
  signal: AbortSignal,
): Promise<void> {
  for (const { type, object } of manifests) {
    await client.create(type, object, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}
