import { isAlreadyExists, Service, type KubernetesClient } from "@causeway/kubernetes";
import { Cluster } from "@causeway/api";
import { demo, demoManifests, demoService, type DemoOptions } from "./manifests.ts";

/** Set on the demo's Cluster once its Service was made, so that a Service a person deleted stays deleted. */
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
  for (const { type, object } of demoManifests(options)) {
    try {
      await client.create(type, object, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
  return "created";
}

/** Makes the demo's Service in its workload cluster, once in the life of the cluster. */
export async function applyDemoService(
  management: KubernetesClient,
  workload: KubernetesClient,
  signal: AbortSignal,
): Promise<void> {
  const cluster = await management.find(Cluster, demo, { signal });
  if (!cluster || cluster.metadata.annotations?.[serviceMadeAnnotation] !== undefined) return;
  try {
    await workload.create(Service, demoService(), { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const body = { metadata: { annotations: { [serviceMadeAnnotation]: "true" } } };
  await management.patch(Cluster, demo, { type: "merge", body }, { signal });
}
