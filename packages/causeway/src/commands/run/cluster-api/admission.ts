import type { Kind, WebhookClient } from "@causeway/api";
import {
  admissionWebhooks,
  defaultingWebhooks,
  type AdmissionRules,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { MUTATE_PATH, VALIDATE_PATH } from "../serving/conversion.ts";

interface Installation {
  readonly kinds: readonly Kind<KubeObject>[];
  readonly rules: AdmissionRules;
  /** How API servers reach the webhook at a path. */
  readonly at: (path: string) => WebhookClient;
}

const group = "admissionregistration.k8s.io";
const configurations = {
  MutatingWebhookConfiguration: { path: MUTATE_PATH, webhooks: defaultingWebhooks },
  ValidatingWebhookConfiguration: { path: VALIDATE_PATH, webhooks: admissionWebhooks },
} as const;

/** What admission is configured by. */
export type AdmissionKind = keyof typeof configurations;

/**
 * The configurations for the defaults and rules of these kinds; none for what they have none of. `nameOf` gives each
 * its name.
 */
export function admissionConfigurations(
  { kinds, rules, at }: Installation,
  nameOf: (kind: AdmissionKind) => string,
): KubeObject[] {
  const groups = [...new Set(kinds.map((kind) => kind.group))];
  return (Object.keys(configurations) as AdmissionKind[]).flatMap((kind) => {
    const { path, webhooks } = configurations[kind];
    const made = webhooks(rules, groups, at(path));
    if (made.length === 0) return [];
    const object = { apiVersion: `${group}/v1`, kind, metadata: { name: nameOf(kind), namespace: "" }, webhooks: made };
    return [object];
  });
}

/** Applies the configurations for the defaults and rules of these kinds, each by the name of the installation. */
export async function installAdmission(
  client: KubernetesClient,
  installation: Installation & { readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  for (const object of admissionConfigurations(installation, () => installation.name)) {
    const kind = object.kind ?? "";
    const type = { group, version: "v1", kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
    await client.apply(type, object, { fieldManager: installation.name, signal });
  }
}
