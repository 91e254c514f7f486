import { toCustomResourceDefinition, withConversionWebhook, type Kind, type WebhookClient } from "@causeway/api";
import { CustomResourceDefinition, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";

/** Applies the CRDs of the kinds, converted by the webhook, and waits until the API server serves them. */
export async function installDefinitions(
  client: KubernetesClient,
  kinds: readonly Kind<KubeObject>[],
  { webhook, signal }: { readonly webhook: WebhookClient; readonly signal: AbortSignal },
): Promise<void> {
  for (const kind of kinds) {
    const crd = withConversionWebhook(toCustomResourceDefinition(kind), webhook);
    await client.apply(CustomResourceDefinition, crd as unknown as CustomResourceDefinition, {
      fieldManager: "causeway-cluster-api",
      signal,
    });
  }
}
