import type { Kind, WebhookClient } from "@causeway/api";
import { admissionWebhooks, type AdmissionRules, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";

interface Installation {
  readonly kinds: readonly Kind<KubeObject>[];
  readonly rules: AdmissionRules;
  readonly webhook: WebhookClient;
  /** Of the configuration. */
  readonly name: string;
}

/** The ValidatingWebhookConfiguration for the rules of these kinds; undefined where none of them has rules. */
export function admissionConfiguration({ kinds, rules, webhook, name }: Installation): KubeObject | undefined {
  const webhooks = admissionWebhooks(rules, [...new Set(kinds.map(({ group }) => group))], webhook);
  if (webhooks.length === 0) return undefined;
  const object = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name, namespace: "" },
    webhooks,
  };
  return object;
}

/** Applies the ValidatingWebhookConfiguration for the rules of these kinds. */
export async function installAdmission(
  client: KubernetesClient,
  installation: Installation,
  signal: AbortSignal,
): Promise<void> {
  const object = admissionConfiguration(installation);
  if (!object) return;
  const type = {
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    namespaced: false,
  };
  await client.apply(type, object, { fieldManager: installation.name, signal });
}
