import { isIP } from "node:net";
import { formatIp, nthAddress, parseCidr, type CertificateSubject, type KeyPair } from "@causeway/foundation";
import { accountKeys, servingRoot, trustedBy, type ControlPlaneSpec } from "../../runtime.ts";
import type { Credentials, Entry } from "../steps.ts";
import { isPooled, type AuditWebhook } from "../options.ts";
import { auditSinkConfig } from "../../audit-sink.ts";
import { AUDIT_WEBHOOK_FILE, auditWebhookConfig } from "./audit.ts";
import { digestOf } from "../tenant.ts";

/** What the Secrets of the programs are issued from. */
export interface CredentialsFrom {
  readonly spec: ControlPlaneSpec;
  readonly namespace: string;
  readonly clusterDomain: string;
  /** Where the API is reached from outside. */
  readonly endpoint: { readonly host: string; readonly port: number };
  /** Of its own etcd, or of the shared one. */
  readonly etcdAuthority: KeyPair;
  readonly members: number;
  /** cloud.conf; undefined: there is no cloud. */
  readonly cloudConfig: string | undefined;
  readonly tunnel: { readonly certificateAuthority: string } | undefined;
  /** The operator's. Undefined: its audit events go to the tenant's, or to none. */
  readonly auditWebhook?: AuditWebhook | undefined;
}

const once = (name: string, entries: readonly Entry[]): Credentials => ({
  name,
  entries,
  inputs: "once",
  once: true,
});

/** The authority of an own etcd. */
export const etcdRoot: readonly Credentials[] = [
  once("etcd-ca", [{ type: "authority", file: "ca", commonName: "etcd-ca" }]),
];

/** Created once: they hold what data depends on. */
export function rootCredentials(spec: Pick<ControlPlaneSpec, "pods" | "restore">): Credentials[] {
  return [
    ...(isPooled(spec) ? [] : etcdRoot),
    once("encryption", [
      spec.restore === undefined
        ? { type: "encryption", file: "config.yaml" }
        : { type: "restored-encryption", file: "config.yaml", from: spec.restore },
    ]),
  ];
}

/** A Secret for each program, with what that program needs and nothing else. */
export function programCredentials(from: CredentialsFrom): Credentials[] {
  return [
    ...(isPooled(from.spec) ? [] : [etcdCredentials(from)]),
    apiServer(from),
    controllerManager(from),
    program("kube-scheduler", [kubeconfig(from, "system:kube-scheduler")]),
    ...cloud(from),
  ];
}

function program(name: string, entries: readonly Entry[]): Credentials {
  return { name, entries, inputs: digestOf(entries.map(publicPart)), once: false };
}

/** What a digest is made of: a key changes with its certificate. */
function publicPart(entry: Entry): unknown {
  return "authority" in entry ? { ...entry, authority: entry.authority.certificate } : entry;
}

function text(file: string, content: string): Entry {
  return { type: "text", file, text: content };
}

/** One certificate for all members, as server, client and peer. */
export function etcdCredentials({
  etcdAuthority,
  namespace,
  clusterDomain,
  members,
}: Pick<CredentialsFrom, "etcdAuthority" | "namespace" | "clusterDomain" | "members">): Credentials {
  const services = ["etcd", `etcd.${namespace}`, `etcd.${namespace}.svc`, `etcd.${namespace}.svc.${clusterDomain}`];
  const names = Array.from({ length: members }, (_, index) => `etcd-${index}.etcd.${namespace}.svc`);
  const subject = { commonName: "etcd", dnsNames: [...services, ...names, "localhost"], ipAddresses: ["127.0.0.1"] };
  return program("etcd", [
    text("ca.crt", etcdAuthority.certificate),
    { type: "certificate", file: "server", authority: etcdAuthority, subject, usages: ["server", "client"] },
  ]);
}

function apiServer(from: CredentialsFrom): Credentials {
  const { spec, etcdAuthority, tunnel } = from;
  const client = (file: string, of: KeyPair, commonName: string, organizations: readonly string[] = []): Entry => ({
    type: "certificate",
    file,
    authority: of,
    subject: { commonName, organizations },
    usages: ["client"],
  });
  const frontProxy: Entry[] =
    spec.frontProxy === undefined
      ? []
      : [
          text("front-proxy-ca.crt", spec.frontProxy.certificate),
          client("front-proxy-client", spec.frontProxy, "front-proxy-client"),
        ];
  const egress: Entry[] =
    tunnel === undefined
      ? []
      : [
          text("tunnel-ca.crt", tunnel.certificateAuthority),
          client("tunnel-client", servingRoot(spec), "kube-apiserver-tunnel"),
        ];
  return program("kube-apiserver", [
    text("ca.crt", trustedBy(spec)),
    {
      type: "certificate",
      file: "apiserver",
      authority: servingRoot(spec),
      subject: serving(from),
      usages: ["server"],
    },
    client("kubelet-client", servingRoot(spec), "kube-apiserver-kubelet-client", ["system:masters"]),
    ...frontProxy,
    text("etcd-ca.crt", etcdAuthority.certificate),
    // In the shared etcd the name is the user.
    client("etcd-client", etcdAuthority, isPooled(spec) ? from.namespace : "kube-apiserver-etcd-client"),
    text("sa.key", spec.serviceAccountKey),
    text("sa.pub", accountKeys(spec)),
    ...egress,
    ...auditWebhookOf(from),
  ]);
}

function auditWebhookOf({ spec, auditWebhook }: CredentialsFrom): Entry[] {
  if (auditWebhook !== undefined) return [text(AUDIT_WEBHOOK_FILE, auditWebhookConfig(auditWebhook, spec.id))];
  return spec.audit === undefined ? [] : [text(AUDIT_WEBHOOK_FILE, auditSinkConfig(spec.audit))];
}

function controllerManager(from: CredentialsFrom): Credentials {
  const { authority, serviceAccountKey } = from.spec;
  return program("kube-controller-manager", [
    text("ca.crt", trustedBy(from.spec)),
    // A signer's file has one certificate only.
    text("signing-ca.crt", authority.certificate),
    text("ca.key", authority.key),
    text("sa.key", serviceAccountKey),
    kubeconfig(from, "system:kube-controller-manager"),
  ]);
}

function cloud(from: CredentialsFrom): Credentials[] {
  if (from.cloudConfig === undefined) return [];
  const entries = [text("cloud.conf", from.cloudConfig), kubeconfig(from, "system:cloud-controller-manager")];
  return [program("cloud-controller-manager", entries)];
}

function kubeconfig({ spec, namespace }: CredentialsFrom, user: string): Entry {
  const { authority } = spec;
  const server = `https://${apiServiceName(namespace)}:${API_SERVICE_PORT}`;
  return { type: "kubeconfig", file: "kubeconfig", authority, trusted: trustedBy(spec), user, server };
}

/** Of the Service that the programs next to the API use. */
export const API_SERVICE_PORT = 6443;

/** The name at which programs in the service cluster reach the API servers. */
export function apiServiceName(namespace: string): string {
  return `kube-apiserver.${namespace}.svc`;
}

function serving({ spec, namespace, clusterDomain, endpoint }: CredentialsFrom): CertificateSubject {
  const { names, serviceCidr, dnsDomain } = spec;
  const cidr = parseCidr(serviceCidr);
  const first = cidr && nthAddress(cidr, 1);
  const all = [endpoint.host, ...names];
  const dnsNames = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    `kubernetes.default.svc.${dnsDomain}`,
    "kube-apiserver",
    apiServiceName(namespace),
    `${apiServiceName(namespace)}.${clusterDomain}`,
    "localhost",
    ...all.filter((name) => isIP(name) === 0),
  ];
  const ipAddresses = ["127.0.0.1", ...(first ? [formatIp(first)] : []), ...all.filter((name) => isIP(name) !== 0)];
  return { commonName: "kube-apiserver", dnsNames: [...new Set(dnsNames)], ipAddresses: [...new Set(ipAddresses)] };
}
