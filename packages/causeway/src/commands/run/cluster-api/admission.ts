import { Cluster, ClusterClass, type Kind, type WebhookClient } from "@causeway/api";
import { admissionWebhooks, classKeyOf, type Related } from "@causeway/cluster-api";
import type { KubeObject, KubernetesClient } from "@causeway/kubernetes";

/** Applies a ValidatingWebhookConfiguration for the rules of Cluster API's kinds. */
export async function installAdmission(
  client: KubernetesClient,
  kinds: readonly Kind<KubeObject>[],
  { webhook, signal }: { readonly webhook: WebhookClient; readonly signal: AbortSignal },
): Promise<void> {
  const webhooks = admissionWebhooks([...new Set(kinds.map(({ group }) => group))], webhook);
  if (webhooks.length === 0) return;
  const type = {
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    namespaced: false,
  };
  const object = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "causeway-cluster-api", namespace: "" },
    webhooks,
  };
  await client.apply(type, object, { fieldManager: "causeway-cluster-api", signal });
}

/** What the rules read, from the API server. */
export function relatedBy(client: KubernetesClient): Related {
  return {
    class: (key) => client.find(ClusterClass, key),
    async users({ namespace, name }) {
      const { items } = await client.list(Cluster);
      return items.filter((one) => {
        const key = classKeyOf(one);
        return key?.name === name && key.namespace === namespace;
      });
    },
  };
}
