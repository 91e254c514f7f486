import {
  Cluster,
  Machine,
  OpenStackCluster,
  OpenStackFloatingIPPool,
  OpenStackMachine,
  type OpenStackClusterSpec,
} from "@causeway/api";
import { Secret, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import type { Shape } from "./schedule.ts";

const namespace = "default";
const infrastructure = "infrastructure.cluster.x-k8s.io";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const labels = (cluster: string) => ({ "cluster.x-k8s.io/cluster-name": cluster });
const owner = (kind: string, { metadata }: KubeObject) => [
  { apiVersion: "cluster.x-k8s.io/v1beta2", kind, name: metadata.name, uid: metadata.uid ?? "", controller: true },
];

/** A Cluster with its OpenStackCluster, credentials and a pool of floating IPs. */
export async function createCluster(
  client: KubernetesClient,
  name: string,
  { cloudsYaml, spec }: { readonly cloudsYaml: string; readonly spec: Partial<OpenStackClusterSpec> },
): Promise<void> {
  const data = { "clouds.yaml": base64(cloudsYaml) };
  const identityRef = { name: `${name}-cloud`, cloudName: "simulator" };
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${name}-cloud`, namespace },
    data,
  });
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name, namespace },
    spec: { infrastructureRef: { apiGroup: infrastructure, kind: "OpenStackCluster", name } },
  });
  await client.create(OpenStackCluster, {
    apiVersion: `${infrastructure}/v1beta2`,
    kind: "OpenStackCluster",
    metadata: { name, namespace, labels: labels(name), ownerReferences: owner("Cluster", cluster) },
    spec: { identityRef, ...spec },
  });
  await client.create(OpenStackFloatingIPPool, {
    apiVersion: `${infrastructure}/v1alpha1`,
    kind: "OpenStackFloatingIPPool",
    metadata: { name, namespace },
    spec: { identityRef, reclaimPolicy: "Delete" },
  });
}

/** A Machine with bootstrap data, and its OpenStackMachine. */
export async function createMachine(
  client: KubernetesClient,
  name: string,
  { cluster, shape }: { readonly cluster: string; readonly shape: Shape },
): Promise<void> {
  const metadata = { name, namespace, labels: labels(cluster) };
  const data = { value: base64("#cloud-config\n") };
  await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data });
  const machine = await client.create(Machine, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata,
    spec: {
      clusterName: cluster,
      version: "v1.34.0",
      bootstrap: { dataSecretName: name },
      infrastructureRef: { apiGroup: infrastructure, kind: "OpenStackMachine", name },
    },
  });
  await client.create(OpenStackMachine, {
    apiVersion: `${infrastructure}/v1beta2`,
    kind: "OpenStackMachine",
    metadata: { ...metadata, ownerReferences: owner("Machine", machine) },
    spec: {
      flavor: { filter: { name: "m1.tiny" } },
      image: { filter: { name: "cirros" } },
      ...(shape.rootVolume ? { rootVolume: { sizeGiB: 1 } } : {}),
      ...(shape.trunk ? { trunk: true } : {}),
      ...(shape.pool
        ? { floatingIPPoolRef: { apiGroup: infrastructure, kind: "OpenStackFloatingIPPool", name: cluster } }
        : {}),
    },
  });
}
