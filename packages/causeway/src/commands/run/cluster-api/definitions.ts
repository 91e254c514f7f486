import { toCustomResourceDefinition, withConversionWebhook, type Kind, type WebhookClient } from "@causeway/api";
import { CustomResourceDefinition, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";

/** Applies the CRDs of the kinds, converted by the webhook, and waits until the API server serves them. */
export async function installDefinitions(
  client: KubernetesClient,
  kinds: readonly Kind<KubeObject>[],
  { webhook, signal }: { readonly webhook: WebhookClient; readonly signal: AbortSignal },
): Promise<void> {
  const options = { fieldManager: "causeway-cluster-api", signal };
  for (const kind of kinds) {
    const crd = withConversionWebhook(toCustomResourceDefinition(kind), webhook) as unknown as CustomResourceDefinition;
    const key = { namespace: "", name: crd.metadata.name };
    const present = await client.find(CustomResourceDefinition, key, { signal });
    if (isOfRelease(present)) {
      await client.patch(CustomResourceDefinition, key, { type: "merge", body: conversionOf(crd) }, options);
    }
    await client.apply(CustomResourceDefinition, crd, options);
  }
}

interface Converted {
  readonly spec: {
    readonly conversion?: { readonly webhook?: { readonly clientConfig?: { readonly service?: object } } };
  };
}

/** By them cert-manager writes the authority of the release's webhook again and again, which is not that of ours. */
const INJECTIONS = ["inject-ca-from", "inject-ca-from-secret", "inject-apiserver-ca"].map(
  (name) => `cert-manager.io/${name}`,
);

/**
 * As manifests of a release have it: a service and a URL exclude each other, and an apply removes no field of others.
 */
function isOfRelease(crd: KubeObject | undefined): boolean {
  const { service } = (crd as unknown as Converted | undefined)?.spec.conversion?.webhook?.clientConfig ?? {};
  return service !== undefined || INJECTIONS.some((name) => crd?.metadata.annotations?.[name] !== undefined);
}

function conversionOf(crd: KubeObject): Readonly<Record<string, unknown>> {
  const { conversion } = (crd as unknown as Converted).spec;
  const metadata = { annotations: Object.fromEntries(INJECTIONS.map((name) => [name, null])) };
  if (conversion === undefined) return { metadata, spec: { conversion: null } };
  const clientConfig = { ...conversion.webhook?.clientConfig, service: null };
  return { metadata, spec: { conversion: { ...conversion, webhook: { ...conversion.webhook, clientConfig } } } };
}
