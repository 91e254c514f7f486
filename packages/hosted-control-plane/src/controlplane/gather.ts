import { readCertificate, type KeyPair } from "@causeway/foundation";
import {
  Namespace,
  Secret,
  secretText,
  type Informer,
  type KubernetesClient,
  type ObjectKey,
  type Informers,
} from "@causeway/kubernetes";
import { Cluster, HostedControlPlane, Machine } from "@causeway/api";
import type { AuditSink, ControlPlaneRuntime, ControlPlaneState, JoinCertificates } from "../runtime.ts";
import { clusterName, runtimeId } from "./names.ts";
import { kubeconfigRenewAnnotation, kubeconfigRootAnnotation, kubeconfigServerAnnotation } from "./kubeconfig.ts";
import { bundleOf, rootOf, serialsOf, type AuthorityFacts, type RotatedRoots } from "./roots.ts";
import type { AuditFacts } from "../audit-delivery/facts.ts";
import type { IssuerFacts } from "../believed/facts.ts";
import type { TunnelFacts } from "../tunnel/facts.ts";
import type { Finding } from "../webhooks/findings.ts";
import type { RootPurpose } from "./steps.ts";

/** What the annotations of the kubeconfig Secret say of it. */
export interface KubeconfigFacts {
  readonly server: string;
  /** Ms since epoch. */
  readonly renewAt: number;
  /** Serial numbers of the authorities that it was written with, the issuer of its client certificate first. */
  readonly serials: string;
}

/** Everything that the plan of one hosted control plane is made from. */
export interface Observed {
  readonly object: HostedControlPlane;
  /** The Cluster that owns it. */
  readonly cluster: Cluster | undefined;
  readonly roots: Readonly<Partial<Record<RootPurpose, KeyPair>>>;
  /** The roots that are rotated; undefined while one is missing. */
  readonly authorities: AuthorityFacts | undefined;
  /** Certificates of an etcd that is joined. */
  readonly etcd: JoinCertificates | undefined;
  /** Where it wants its audit events, with the token of its Secret. */
  readonly auditSink?: AuditSink | undefined;
  /** The kubeconfig Secret: where it points, and when (ms since epoch) to write a new one. */
  readonly kubeconfig: KubeconfigFacts | undefined;
  /** Serial numbers of the authorities that are trusted; undefined without one. */
  readonly trustedSerials: string | undefined;
  readonly kubeconfigSecret: Secret | undefined;
  /** Is the whole namespace being deleted? */
  readonly namespaceTerminates: boolean;
  /** What the runtime runs now. */
  readonly state: ControlPlaneState | undefined;
  /** True if the runtime holds anything of it, ready or not. */
  readonly exists: boolean;
  /** True once it was initialised: then its roots are never recreated. */
  readonly initialized: boolean;
  /** The host to use where none is named; undefined while it is unknown. */
  readonly defaults: { readonly host: string | undefined };
  /** Webhooks and APIServices of the tenant that break its cluster. Undefined: not checked yet. */
  readonly webhooks?: readonly Finding[] | undefined;
  /** The agents of its tunnel. Undefined: not checked yet. */
  readonly tunnel?: TunnelFacts | undefined;
  /** What its API servers made of the issuers of tokens. Undefined: not checked yet. */
  readonly issuers?: IssuerFacts | undefined;
  /** Whether its audit sink receives events. Undefined: nothing is known yet. */
  readonly auditDelivery?: AuditFacts | undefined;
}

/** Caches of the management cluster, and what gather reads elsewhere. */
export interface GatherFrom {
  /** What the check of webhooks found last. */
  readonly webhooks: (id: string) => readonly Finding[] | undefined;
  /** What the check of tunnels found last. */
  readonly tunnel: (id: string) => TunnelFacts | undefined;
  /** What the check of issuers found last. */
  readonly issuers: (id: string) => IssuerFacts | undefined;
  /** What the check of audit sinks found last. */
  readonly auditDelivery: (id: string) => AuditFacts | undefined;
  readonly controlPlanes: Informer<HostedControlPlane>;
  readonly clusters: Informer<Cluster>;
  readonly secrets: Informer<Secret>;
  readonly namespaces: Informer<Namespace>;
  readonly runtime: ControlPlaneRuntime;
  /** The Machines of a Cluster. Read during rotations only: a watch would hold every Machine there is. */
  readonly machines: (namespace: string, cluster: string, signal: AbortSignal) => Promise<readonly Machine[]>;
  /** The host that nodes and people reach control planes at, when the object names none; undefined: not known yet. */
  readonly advertise: (object: HostedControlPlane) => Promise<string | undefined>;
}

/** Secrets are those with the label `cluster.x-k8s.io/cluster-name`. */
export function openInformers(
  informers: Informers,
): Pick<GatherFrom, "controlPlanes" | "clusters" | "secrets" | "namespaces" | "machines"> {
  return {
    machines: (namespace, cluster, signal) => listMachines(informers.client, { namespace, cluster }, signal),
    controlPlanes: informers.for(HostedControlPlane),
    clusters: informers.for(Cluster),
    namespaces: informers.for(Namespace),
    secrets: informers.for(Secret, { labelSelector: "cluster.x-k8s.io/cluster-name" }),
  };
}

async function listMachines(
  client: KubernetesClient,
  { namespace, cluster }: { namespace: string; cluster: string },
  signal: AbortSignal,
): Promise<readonly Machine[]> {
  const labelSelector = `cluster.x-k8s.io/cluster-name=${cluster}`;
  return (await client.list(Machine, { namespace, labelSelector, signal })).items;
}

/** Undefined: the control plane does not exist. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const object = from.controlPlanes.get(key);
  if (!object) return undefined;
  const cluster = ownerCluster(from, object);
  const name = clusterName(object, cluster);
  const secret = (purpose: string) => from.secrets.get({ namespace: key.namespace, name: `${name}-${purpose}` });
  const roots: Partial<Record<RootPurpose, KeyPair>> = {};
  const [ca, sa, proxy] = [rootOf(secret("ca")), rootOf(secret("sa")), rootOf(secret("proxy"))];
  if (ca) roots.ca = ca.pair;
  if (sa) roots.sa = sa.pair;
  // While it is rotated, both are believed.
  if (proxy) roots.proxy = { certificate: bundleOf(proxy), key: proxy.pair.key };
  const state = await from.runtime.observe(runtimeId(object), signal);
  return {
    object,
    cluster,
    roots,
    authorities: ca && sa && (await authoritiesOf(from, { object, name, roots: { ca, sa, proxy } }, signal)),
    etcd: object.spec.datastore === undefined ? undefined : certificatesOf(secret("etcd")),
    auditSink: auditSinkOf(object, (of) => ownSecret(from, { namespace: key.namespace, name: of }, name)),
    kubeconfig: kubeconfigOf(secret("kubeconfig")),
    trustedSerials: ca && serialsOf(bundleOf(ca)),
    kubeconfigSecret: secret("kubeconfig"),
    namespaceTerminates:
      from.namespaces.get({ namespace: "", name: key.namespace })?.metadata.deletionTimestamp !== undefined,
    state,
    exists: state !== undefined,
    webhooks: from.webhooks(runtimeId(object)),
    tunnel: from.tunnel(runtimeId(object)),
    issuers: from.issuers(runtimeId(object)),
    auditDelivery: from.auditDelivery(runtimeId(object)),
    initialized: object.status?.initialization?.controlPlaneInitialized === true,
    defaults: {
      host: object.spec.endpoint?.host ?? object.status?.endpoint?.host ?? (await defaultHost(from, object)),
    },
  };
}

/** A Secret of this cluster, and of no other one in the namespace. */
function ownSecret({ secrets }: Pick<GatherFrom, "secrets">, key: ObjectKey, cluster: string): Secret | undefined {
  const found = secrets.get(key);
  return found?.metadata.labels?.["cluster.x-k8s.io/cluster-name"] === cluster ? found : undefined;
}

function auditSinkOf(
  { spec: { audit } }: HostedControlPlane,
  secretNamed: (name: string) => Secret | undefined,
): AuditSink | undefined {
  if (audit === undefined) return undefined;
  const { url, certificateAuthority, tokenSecret } = audit.webhook;
  const token = tokenSecret === undefined ? undefined : secretText(secretNamed(tokenSecret), "token");
  return {
    url,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(tokenSecret === undefined ? {} : { tokenSecret }),
    ...(token === undefined ? {} : { token: token.trim() }),
  };
}

/** "": the runtime finds one. */
async function defaultHost(
  { runtime, advertise }: GatherFrom,
  object: HostedControlPlane,
): Promise<string | undefined> {
  const chosen = object.status?.runtime ?? object.spec.runtime;
  return runtime.assignsEndpoint?.(chosen) === true ? "" : advertise(object);
}

/** The Cluster that owns a control plane. */
export function ownerCluster(from: Pick<GatherFrom, "clusters">, object: HostedControlPlane): Cluster | undefined {
  const owner = object.metadata.ownerReferences?.find(
    (o) => o.kind === "Cluster" && o.apiVersion.startsWith("cluster.x-k8s.io/"),
  );
  return owner && from.clusters.get({ namespace: object.metadata.namespace ?? "", name: owner.name });
}

async function authoritiesOf(
  { machines }: GatherFrom,
  { object, name, roots }: { object: HostedControlPlane; name: string; roots: RotatedRoots },
  signal: AbortSignal,
): Promise<AuthorityFacts> {
  const { ca } = roots;
  const { notBefore, notAfter } = readCertificate(ca.pair.certificate);
  const all = ca.stage === "sign" ? await machines(object.metadata.namespace ?? "", name, signal) : [];
  return {
    roots,
    createdAt: notBefore,
    expiresAt: notAfter,
    machines: all.map(({ metadata }) => ({
      name: metadata.name,
      createdAt: Date.parse(metadata.creationTimestamp ?? ""),
    })),
  };
}

/** Of Secret CLUSTER-etcd; undefined while a part is missing. */
function certificatesOf(secret: Secret | undefined): JoinCertificates | undefined {
  const pair = (name: string): KeyPair | undefined => {
    const [certificate, key] = [secretText(secret, `${name}.crt`), secretText(secret, `${name}.key`)];
    return certificate === undefined || key === undefined ? undefined : { certificate, key };
  };
  const [authority, server, client] = [secretText(secret, "ca.crt"), pair("server"), pair("client")];
  return authority === undefined || !server || !client ? undefined : { authority, server, client };
}

/** Undefined: there is none, or its annotations cannot be read. */
function kubeconfigOf(secret: Secret | undefined): KubeconfigFacts | undefined {
  if (secret?.data?.["value"] === undefined) return undefined;
  const { annotations = {} } = secret.metadata;
  const server = annotations[kubeconfigServerAnnotation];
  const renewAt = Number(annotations[kubeconfigRenewAnnotation]);
  const serials = annotations[kubeconfigRootAnnotation];
  if (server === undefined || !Number.isFinite(renewAt) || serials === undefined) return undefined;
  return { server, renewAt, serials };
}
