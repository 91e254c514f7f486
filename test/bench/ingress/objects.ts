import type { KeyPair } from "@causeway/foundation";
import { Secret, Service, type KubernetesClient } from "@causeway/kubernetes";
import { CLASS_ANNOTATION, CLASS_VALUE, type Ingress } from "@causeway/octavia-ingress";

export const NAMESPACE = "default";

/** An Ingress of one host, with a path to each of these Services, the first at "/". */
export function ingressOf(name: string, services: readonly string[], secretName?: string): Ingress {
  const host = `${name}.example`;
  const paths = services.map((service, i) => ({
    path: i === 0 ? "/" : `/${service}`,
    pathType: "Prefix" as const,
    backend: { service: { name: service, port: { number: 80 } } },
  }));
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: NAMESPACE, annotations: { [CLASS_ANNOTATION]: CLASS_VALUE } },
    spec: {
      rules: [{ host, http: { paths } }],
      ...(secretName === undefined ? {} : { tls: [{ hosts: [host], secretName }] }),
    },
  };
}

export async function createServices(client: KubernetesClient, names: readonly string[]): Promise<void> {
  for (const name of names)
    await client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: NAMESPACE },
      spec: { type: "NodePort", ports: [{ name: "http", port: 80, protocol: "TCP" }] },
    });
}

/** Creates the Secret, or replaces what it has. */
export async function putCertificate(client: KubernetesClient, name: string, pair: KeyPair): Promise<void> {
  const data = {
    "tls.crt": Buffer.from(pair.certificate).toString("base64"),
    "tls.key": Buffer.from(pair.key).toString("base64"),
  };
  const key = { namespace: NAMESPACE, name };
  if (await client.find(Secret, key)) await client.patch(Secret, key, { type: "merge", body: { data } });
  else
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: key,
      type: "kubernetes.io/tls",
      data,
    });
}
