import type { KubeadmConfigSpec } from "@causeway/api";
import { secretText, type Secret } from "@causeway/kubernetes";

/** The part of a Secret's name after the cluster's. */
export type CertificatePurpose = "ca" | "etcd" | "proxy" | "sa" | "apiserver-etcd-client";

/** A certificate of a control plane of machines. */
export interface CertificateKind {
  readonly purpose: CertificatePurpose;
  /** Where kubeadm expects it. */
  readonly path: string;
  /** Undefined: it has no key here. */
  readonly keyPath: string | undefined;
  /** The user makes it: it is of an etcd that is not the control plane's. */
  readonly isGiven: boolean;
}

/** Contents of a Secret: PEM. */
export interface CertificateData {
  readonly certificate: string;
  readonly key?: string;
}

/** Those of one control plane. */
export type Certificates = Readonly<Partial<Record<CertificatePurpose, CertificateData>>>;

type Configuration = KubeadmConfigSpec["clusterConfiguration"];

/** True if the members of etcd are not on the machines of the control plane. */
export function hasExternalEtcd(configuration: Configuration): boolean {
  return configuration?.etcd?.external !== undefined;
}

/**
 * The certificates of a control plane, each in a Secret CLUSTER-PURPOSE with tls.crt and tls.key (Cluster API,
 * certificate management). "sa" is a key pair without a certificate: tls.crt holds its public key. Of an external etcd
 * there are its authority, without a key, and the pair of the API servers, where the configuration has them.
 */
export function certificateKinds(configuration: Configuration): CertificateKind[] {
  const root = configuration?.certificatesDir ?? "/etc/kubernetes/pki";
  const external = configuration?.etcd?.external;
  const own = (purpose: CertificatePurpose, path: string, keyPath: string): CertificateKind => ({
    purpose,
    path: `${root}/${path}`,
    keyPath: `${root}/${keyPath}`,
    isGiven: false,
  });
  const etcd: CertificateKind[] = external
    ? [
        { purpose: "etcd", path: external.caFile, keyPath: undefined, isGiven: true },
        { purpose: "apiserver-etcd-client", path: external.certFile, keyPath: external.keyFile, isGiven: true },
      ]
    : [own("etcd", "etcd/ca.crt", "etcd/ca.key")];
  return [
    own("ca", "ca.crt", "ca.key"),
    ...etcd,
    own("proxy", "front-proxy-ca.crt", "front-proxy-ca.key"),
    own("sa", "sa.pub", "sa.key"),
  ];
}

/** `web-etcd` for cluster "web" and purpose "etcd". */
export function certificateSecretName(cluster: string, purpose: CertificatePurpose): string {
  return `${cluster}-${purpose}`;
}

/** The pair in a Secret; undefined when one half is missing. */
export function pairIn(secret: Secret | undefined): Required<CertificateData> | undefined {
  const certificate = secretText(secret, "tls.crt");
  const key = secretText(secret, "tls.key");
  return certificate && key ? { certificate, key } : undefined;
}

/**
 * What a Secret has of a certificate; undefined when something of it is missing. A key that has no place is left out.
 */
export function certificateIn(secret: Secret | undefined, { keyPath }: CertificateKind): CertificateData | undefined {
  if (keyPath !== undefined) return pairIn(secret);
  const certificate = secretText(secret, "tls.crt");
  return certificate ? { certificate } : undefined;
}

/** cloud-init files that place the certificates on a control-plane machine. */
export function certificateFiles(
  certificates: Certificates,
  configuration: Configuration,
): { path: string; owner: string; permissions: string; content: string }[] {
  return certificateKinds(configuration).flatMap(({ purpose, path, keyPath }) => {
    const { certificate, key } = certificates[purpose] ?? {};
    const file = (at: string | undefined, permissions: string, content: string | undefined) =>
      at === undefined || content === undefined ? [] : [{ path: at, owner: "root:root", permissions, content }];
    return [...file(path, "0640", certificate), ...file(keyPath, "0600", key)];
  });
}
