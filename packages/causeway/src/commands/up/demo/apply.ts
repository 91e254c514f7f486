import {
  Deployment,
  isAlreadyExists,
  Service,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { Cluster } from "@causeway/api";
import { demo, demoApplication, demoManifests, demoService, type DemoOptions } from "./manifests.ts";

/** Set on the demo's Cluster once its Service and application exist, so that what a person deleted stays deleted. */
const serviceMadeAnnotation = "demo.causeway.dev/service-created";

/**
 * Makes the demo cluster unless it is there. Nothing that exists is changed: what a person did to it (scaled it, say) stays.
 * Dying in between is harmless: the next start makes what is missing.
 */
export async function applyDemo(
  client: KubernetesClient,
  options: DemoOptions,
  signal: AbortSignal,
): Promise<"created" | "found"> {
  if (await client.find(Cluster, demo, { signal })) return "found";
  for (const { type, object } of demoManifests(options)) await ensure(client, type, object, signal);
  return "created";
}

/** Creates the demo's application and its Service in the workload cluster, once in the life of the cluster. */
export async function applyDemoService(
  management: KubernetesClient,
  workload: KubernetesClient,
  signal: AbortSignal,
): Promise<void> {
  const cluster = await management.find(Cluster, demo, { signal });
  if (!cluster || cluster.metadata.annotations?.[serviceMadeAnnotation] !== undefined) return;
  await ensure(workload, Deployment, demoApplication(), signal);
  await ensure(workload, Service, demoService(), signal);
  const body = { metadata: { annotations: { [serviceMadeAnnotation]: "true" } } };
  await management.patch(Cluster, demo, { type: "merge", body }, { signal });
}

async function ensure<T extends KubeObject>(
  client: KubernetesClient,
  type: ResourceType<T>,
  object: T,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(type, object, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
