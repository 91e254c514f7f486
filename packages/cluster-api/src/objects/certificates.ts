import type { KeyPair } from "@causeway/foundation";
import { secretText, type Secret } from "@causeway/kubernetes";

/**
 * The certificates of a control plane of machines, each in a Secret CLUSTER-PURPOSE with tls.crt and tls.key (Cluster
 * API, certificate management). "sa" is a key pair without a certificate: tls.crt holds its public key.
 */
export const certificatePurposes = ["ca", "etcd", "proxy", "sa"] as const;
/** The part of the Secret's name after the cluster's. */
export type CertificatePurpose = (typeof certificatePurposes)[number];

/** One pair for each purpose. */
export type Certificates = Readonly<Record<CertificatePurpose, KeyPair>>;

/** Where kubeadm expects them, below its directory of certificates. */
const paths: Readonly<Record<CertificatePurpose, readonly [certificate: string, key: string]>> = {
  ca: ["ca.crt", "ca.key"],
  etcd: ["etcd/ca.crt", "etcd/ca.key"],
  proxy: ["front-proxy-ca.crt", "front-proxy-ca.key"],
  sa: ["sa.pub", "sa.key"],
};

/** `web-etcd` for cluster "web" and purpose "etcd". */
export function certificateSecretName(cluster: string, purpose: CertificatePurpose): string {
  return `${cluster}-${purpose}`;
}

/** The pair in a Secret; undefined when one half is missing. */
export function pairIn(secret: Secret | undefined): KeyPair | undefined {
  const certificate = secretText(secret, "tls.crt");
  const key = secretText(secret, "tls.key");
  return certificate && key ? { certificate, key } : undefined;
}

/** cloud-init files that place the certificates on a control-plane machine. */
export function certificateFiles(
  certificates: Certificates,
  directory: string | undefined,
): { path: string; owner: string; permissions: string; content: string }[] {
  const root = directory ?? "/etc/kubernetes/pki";
  return certificatePurposes.flatMap((purpose) => {
    const [certificate, key] = paths[purpose];
    const pair = certificates[purpose];
    return [
      { path: `${root}/${certificate}`, owner: "root:root", permissions: "0640", content: pair.certificate },
      { path: `${root}/${key}`, owner: "root:root", permissions: "0600", content: pair.key },
    ];
  });
}
