import { Deployment, Service, type KubernetesClient } from "@causeway/kubernetes";
import { Cluster } from "@causeway/api";
import { manifest } from "@causeway/api";
import { createMissing } from "../../../clusters/manifests.ts";
import { demo, demoApplication, demoManifests, demoService, type DemoOptions } from "./manifests.ts";

/** Set on the demo's Cluster once its Service and application exist, so that what a person deleted remains deleted. */
const serviceMadeAnnotation = "demo.causeway.dev/service-created";

/**
 * Makes the demo cluster unless it is there. Nothing that exists is changed: what a person did to it (scaled it, say)
 * remains. Dying in between is harmless: the next start makes what is missing.
 */
export async function applyDemo(
  client: KubernetesClient,
  options: DemoOptions,
  signal: AbortSignal,
): Promise<"created" | "found"> {
  if (await client.find(Cluster, demo, { signal })) return "found";
  await createMissing(client, demoManifests(options), signal);
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
  const manifests = [manifest(Deployment, demoApplication()), manifest(Service, demoService())];
  await createMissing(workload, manifests, signal);
  const body = { metadata: { annotations: { [serviceMadeAnnotation]: "true" } } };
  await management.patch(Cluster, demo, { type: "merge", body }, { signal });
}
