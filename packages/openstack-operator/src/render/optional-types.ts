import type { Condition, KubeObject, Resource, ResourceType } from "@causeway/kubernetes";

/** Kinds of other operators, with what is written and read of them. */

interface CertificateSpec {
  secretName: string;
  secretTemplate: { labels: Record<string, string> };
  dnsNames: string[];
  duration: string;
  usages: string[];
  privateKey: { algorithm: string; size: number; rotationPolicy: string };
  issuerRef: { group: string; kind: string; name: string };
}

/** A certificate that cert-manager writes into a Secret. */
export type Certificate = Resource<CertificateSpec, { conditions?: Condition[] }>;

export const Certificate: ResourceType<Certificate> = {
  group: "cert-manager.io",
  version: "v1",
  kind: "Certificate",
  plural: "certificates",
  namespaced: true,
};

export const optionalKinds: readonly ResourceType<KubeObject>[] = [Certificate] as readonly ResourceType<KubeObject>[];
