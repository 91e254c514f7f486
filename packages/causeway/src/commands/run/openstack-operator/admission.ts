import { operatorKinds, toCustomResourceDefinition } from "@causeway/api";
import { InputError, type Log } from "@causeway/foundation";
import { CustomResourceDefinition, type KubernetesClient } from "@causeway/kubernetes";
import { deploymentWebhooks, reviewDeployment } from "@causeway/openstack-operator";
import { serveConversion, VALIDATE_PATH } from "../serving/conversion.ts";
import { webhookCertificate } from "../serving/webhook-certificate.ts";
import type { OpenStackOperatorFlags } from "./command.ts";

const fieldManager = "causeway-openstack-operator";

const configurationType = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  namespaced: false,
};

/**
 * Serves the validating webhook, and installs the CRD and its configuration if the flags say so. Every replica serves
 * it, whether it leads or not. Undefined: the flags want none.
 * @throws FLAG_INVALID, CERTIFICATE_UNREADABLE, ENDPOINT_PORT_TAKEN
 */
export async function serveAdmission(
  client: KubernetesClient,
  flags: Pick<OpenStackOperatorFlags, "installCrds" | "webhookHost" | "webhookPort" | "webhookCertDir" | "bindAddress">,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<{ readonly port: number; close(): Promise<void> } | undefined> {
  const { webhookPort, installCrds, webhookHost: host, webhookCertDir: dir, bindAddress: address } = flags;
  if (webhookPort === undefined && !installCrds) return undefined;
  const { authority, pair } = await webhookCertificate({ dir, host });
  const port = portOf(webhookPort ?? "9443");
  const admit = (review: unknown) => Promise.resolve(reviewDeployment(review));
  const webhook = await serveConversion({ kinds: operatorKinds, address, port, certificate: pair, admit, log });
  if (!installCrds) return webhook;
  try {
    for (const kind of operatorKinds)
      await client.apply(CustomResourceDefinition, toCustomResourceDefinition(kind), { fieldManager, signal });
    const url = `https://${host.includes(":") ? `[${host}]` : host}:${webhook.port}${VALIDATE_PATH}`;
    const object = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "causeway-openstack-operator", namespace: "" },
      webhooks: deploymentWebhooks({ url, caBundle: Buffer.from(authority).toString("base64") }),
    };
    await client.apply(configurationType, object, { fieldManager, signal });
    return webhook;
  } catch (error) {
    await webhook.close();
    throw error;
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InputError("FLAG_INVALID", `--webhook-port must be a port from 0 to 65535; it is ${JSON.stringify(text)}.`);
}
