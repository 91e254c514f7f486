import type { Condition, KubeObject, Resource, ResourceType } from "@causeway/kubernetes";
import { labels } from "../model/names.ts";

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

/** How clients reach certificates of cert-manager. */
export const Certificate: ResourceType<Certificate> = {
  group: "cert-manager.io",
  version: "v1",
  kind: "Certificate",
  plural: "certificates",
  namespaced: true,
};

interface PerconaStatus {
  state?: string;
  message?: string[];
  observedGeneration?: number;
  pxc?: { size?: number; ready?: number };
}

/** Galera with HAProxy, run by Percona's operator. */
export type PerconaXtraDBCluster = Resource<Record<string, unknown>, PerconaStatus>;

/** How clients reach clusters of Percona's operator. */
export const PerconaXtraDBCluster: ResourceType<PerconaXtraDBCluster> = {
  group: "pxc.percona.com",
  version: "v1",
  kind: "PerconaXtraDBCluster",
  plural: "perconaxtradbclusters",
  namespaced: true,
};

/** A cluster of RabbitMQ, run by its own operator. */
export type RabbitmqCluster = Resource<
  Record<string, unknown>,
  {
    conditions?: Condition[];
    observedGeneration?: number;
    defaultUser?: { secretReference?: { name?: string; keys?: Record<string, string> } };
  }
>;

/** How clients reach clusters of RabbitMQ's operator. */
export const RabbitmqCluster: ResourceType<RabbitmqCluster> = {
  group: "rabbitmq.com",
  version: "v1beta1",
  kind: "RabbitmqCluster",
  plural: "rabbitmqclusters",
  namespaced: true,
};

/** The label by which objects of a kind belong to a deployment. */
export const optionalKinds: readonly { readonly type: ResourceType<KubeObject>; readonly label: string }[] = [
  { type: Certificate as ResourceType<KubeObject>, label: labels.deployment },
  { type: PerconaXtraDBCluster as ResourceType<KubeObject>, label: labels.backendOf },
  { type: RabbitmqCluster as ResourceType<KubeObject>, label: labels.backendOf },
];
