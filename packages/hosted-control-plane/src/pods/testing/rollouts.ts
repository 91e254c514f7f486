import { Deployment, Pod, StatefulSet, type KubernetesClient, type ResourceType } from "@causeway/kubernetes";
import { managedSelector } from "../tenant.ts";

/**
 * The controllers and the nodes of a service cluster, as far as the runtime sees them: whatever is written rolls out at
 * once. Pods have addresses at which nothing listens.
 */
export async function playRollouts(client: KubernetesClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const type of [Deployment, StatefulSet] as const)
      // Something was changed, or is being deleted: the next turn sees it.
      await rollOut(client, type as ResourceType<Deployment>).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

async function rollOut(client: KubernetesClient, type: ResourceType<Deployment>): Promise<void> {
  const { items } = await client.list(type, { labelSelector: managedSelector });
  for (const { metadata, spec, status } of items) {
    const { namespace = "", name, generation } = metadata;
    if (metadata.deletionTimestamp !== undefined) continue;
    const replicas = spec.replicas ?? 1;
    for (let index = 0; index < replicas; index++) await runPod(client, `${name}-${index}`, { namespace, spec });
    if (status?.observedGeneration === generation) continue;
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    const body = { status: { ...counts, observedGeneration: generation } };
    await client.patch(type, { namespace, name }, { type: "merge", body }, { subresource: "status" });
  }
}

async function runPod(
  client: KubernetesClient,
  name: string,
  { namespace, spec }: { readonly namespace: string; readonly spec: Deployment["spec"] },
): Promise<void> {
  if ((await client.find(Pod, { namespace, name })) !== undefined) return;
  const { metadata, spec: pod } = spec.template;
  const bare = {
    ...pod,
    volumes: undefined,
    containers: pod.containers.map(({ name: own, image }) => ({ name: own, image })),
  };
  await client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, namespace, name },
    spec: bare,
  } as unknown as Pod);
  const conditions = [{ type: "Ready", status: "True" }];
  const body = { status: { phase: "Running", podIP: "192.0.2.1", conditions } };
  await client.patch(Pod, { namespace, name }, { type: "merge", body }, { subresource: "status" });
}
