/** Clusters and machines whose control planes have served, as controllers leave them in the management cluster. */
import { HostedControlPlane, labels, Machine, MagnumCluster } from "@causeway/api";
import { Secret, type KubernetesClient, type ObjectKey } from "@causeway/kubernetes";

interface ServedOptions {
  readonly isInitialized?: boolean;
  readonly annotations?: Record<string, string>;
}

/** A cluster with its control plane, and a kubeconfig that is its name. */
export async function createServed(
  client: KubernetesClient,
  { namespace, name }: ObjectKey,
  { isInitialized = true, annotations = {} }: ServedOptions = {},
): Promise<void> {
  const metadata = { namespace, name, annotations };
  const uuid = `6e8ae3a5-0b4c-4f0e-9d26-${name.padStart(12, "0").replaceAll(/[^0-9a-f]/g, "a")}`;
  const group = { uuid, name: "default-worker", role: "worker", isDefault: true, imageID: "i", nodeCount: 1 };
  await client.create(MagnumCluster, {
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata,
    spec: {
      uuid,
      masterUUID: uuid,
      name,
      projectID: "p",
      userID: "u",
      templateUUID: uuid,
      template: { coe: "kubernetes", imageID: "i" },
      version: "v1.34.0",
      masterCount: 1,
      createTimeout: 60,
      nodeGroups: [{ ...group, minNodeCount: 0, version: "v1.34.0", createdAt: "2026-11-28T00:00:00Z" }],
    },
  } as unknown as MagnumCluster);
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { namespace, name },
    spec: { version: "v1.34.0" },
  } as HostedControlPlane);
  const status = { initialization: { controlPlaneInitialized: isInitialized } };
  const merge = { type: "merge", body: { status } } as const;
  await client.patch(HostedControlPlane, { namespace, name }, merge, { subresource: "status" });
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: `${name}-kubeconfig`, labels: { [labels.clusterName]: name } },
    data: { value: Buffer.from(name).toString("base64") },
  });
}

/** A machine of a cluster with a node of its name that is ready. */
export async function createNode(
  client: KubernetesClient,
  { namespace, name: cluster }: ObjectKey,
  name: string,
): Promise<void> {
  await client.create(Machine, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { namespace, name, labels: { [labels.clusterName]: cluster } },
    spec: {
      clusterName: cluster,
      bootstrap: { dataSecretName: "none" },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name },
    },
  } as Machine);
  const ready = { type: "NodeReady", status: "True", reason: "R", lastTransitionTime: "2026-11-28T00:00:00Z" };
  const status = { nodeRef: { name }, conditions: [ready] };
  await client.patch(Machine, { namespace, name }, { type: "merge", body: { status } }, { subresource: "status" });
}
