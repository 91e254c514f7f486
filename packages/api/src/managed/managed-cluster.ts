import { Secret, type OwnerReference } from "@causeway/kubernetes";
import { Cluster } from "../cluster/index.ts";
import { HostedControlPlane, type HostedControlPlaneSpec } from "../controlplane/index.ts";
import { OpenStackCluster, type OpenStackClusterSpec } from "../infrastructure/index.ts";
import { labels } from "../names.ts";
import { manifest, type Manifest } from "./manifest.ts";
import { nodePoolManifests, type NodePool } from "./node-pool.ts";

/** What a cluster with a hosted control plane and workers is made from. */
export interface ManagedCluster {
  readonly namespace: string;
  readonly name: string;
  readonly controlPlane: HostedControlPlaneSpec;
  readonly infrastructure: OpenStackClusterSpec;
  readonly podCidr: string;
  readonly serviceCidr: string;
  readonly pools: readonly NodePool[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference;
}

/** The name of the Secret with a managed cluster's clouds.yaml. */
export function credentialsOf(name: string): string {
  return `${name}-cloud-config`;
}

/** The Secret with the clouds.yaml of a managed cluster. */
export function credentialsManifest(
  { namespace, name, labels: more, owner }: Pick<ManagedCluster, "namespace" | "name" | "labels" | "owner">,
  cloudsYaml: string,
): Manifest {
  return manifest(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: credentialsOf(name),
      namespace,
      labels: { ...more, [labels.clusterName]: name, "clusterctl.cluster.x-k8s.io/move": "true" },
      ...(owner ? { ownerReferences: [owner] } : {}),
    },
    data: { "clouds.yaml": Buffer.from(cloudsYaml, "utf8").toString("base64") },
  });
}

/**
 * A cluster without its credentials, in the order in which it is applied: the Cluster comes last, so that it is there
 * only when all of it is.
 */
export function managedClusterManifests(options: ManagedCluster): readonly Manifest[] {
  const { namespace, name, owner, pools, infrastructure, controlPlane } = options;
  const metadata = {
    name,
    namespace,
    labels: { ...options.labels, [labels.clusterName]: name },
    ...(owner ? { ownerReferences: [owner] } : {}),
  };
  return [
    manifest(OpenStackCluster, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackCluster",
      metadata,
      spec: infrastructure,
    }),
    manifest(HostedControlPlane, {
      apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
      kind: "HostedControlPlane",
      metadata,
      spec: controlPlane,
    }),
    ...pools.flatMap((pool) => nodePoolManifests(pool, { namespace, cluster: name, metadata })),
    manifest(Cluster, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata,
      spec: {
        clusterNetwork: { services: { cidrBlocks: [options.serviceCidr] }, pods: { cidrBlocks: [options.podCidr] } },
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name },
        controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
      },
    }),
  ];
}
