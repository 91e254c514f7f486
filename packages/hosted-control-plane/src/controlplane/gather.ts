import { readCertificate, type KeyPair } from "@causeway/foundation";
import { Namespace, Secret, secretText, type Informer, type ObjectKey, type Informers } from "@causeway/kubernetes";
import { Cluster, HostedControlPlane } from "@causeway/api";
import type { ControlPlaneRuntime, ControlPlaneState, JoinCertificates } from "../runtime.ts";
import { kubeconfigRenewAnnotation, kubeconfigServerAnnotation } from "./kubeconfig.ts";
import type { RootPurpose } from "./steps.ts";

/** Everything that the plan of one hosted control plane is made from. */
export interface Observed {
  readonly object: HostedControlPlane;
  /** The Cluster that owns it. */
  readonly cluster: Cluster | undefined;
  readonly roots: Readonly<Partial<Record<RootPurpose, KeyPair>>>;
  /** Certificates of an etcd that is joined. */
  readonly etcd: JoinCertificates | undefined;
  /** The kubeconfig Secret: where it points, and when (ms since epoch) to write a new one. */
  readonly kubeconfig: { readonly server: string; readonly renewAt: number } | undefined;
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
}

export interface GatherFrom {
  readonly controlPlanes: Informer<HostedControlPlane>;
  readonly clusters: Informer<Cluster>;
  readonly secrets: Informer<Secret>;
  readonly namespaces: Informer<Namespace>;
  readonly runtime: ControlPlaneRuntime;
  /** The host that nodes and people reach control planes at, when the object names none; undefined: not known yet. */
  readonly advertise: (object: HostedControlPlane) => Promise<string | undefined>;
}

export function openInformers(
  informers: Informers,
): Pick<GatherFrom, "controlPlanes" | "clusters" | "secrets" | "namespaces"> {
  return {
    controlPlanes: informers.for(HostedControlPlane),
    clusters: informers.for(Cluster),
    namespaces: informers.for(Namespace),
    secrets: informers.for(Secret, { labelSelector: "cluster.x-k8s.io/cluster-name" }),
  };
}

export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const object = from.controlPlanes.get(key);
  if (!object) return undefined;
  const cluster = ownerCluster(from, object);
  const name = clusterName(object, cluster);
  const secret = (purpose: string) => from.secrets.get({ namespace: key.namespace, name: `${name}-${purpose}` });
  const roots: Partial<Record<RootPurpose, KeyPair>> = {};
  for (const purpose of ["ca", "proxy", "sa"] as const) {
    const pair = keyPairOf(secret(purpose));
    if (pair) roots[purpose] = pair;
  }
  const state = await from.runtime.observe(runtimeId(object), signal);
  return {
    object,
    cluster,
    roots,
    etcd: object.spec.datastore === undefined ? undefined : certificatesOf(secret("etcd")),
    kubeconfig: kubeconfigOf(secret("kubeconfig"), roots.ca),
    kubeconfigSecret: secret("kubeconfig"),
    namespaceTerminates:
      from.namespaces.get({ namespace: "", name: key.namespace })?.metadata.deletionTimestamp !== undefined,
    state,
    exists: state !== undefined,
    initialized: object.status?.initialization?.controlPlaneInitialized === true,
    defaults: {
      host: object.spec.endpoint?.host ?? object.status?.endpoint?.host ?? (await defaultHost(from, object)),
    },
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

export function runtimeId(object: HostedControlPlane): string {
  return `${object.metadata.namespace}.${object.metadata.name}`;
}

/** The name that Secrets of the contract start with: the Cluster's. */
export function clusterName(object: HostedControlPlane, cluster: Cluster | undefined): string {
  return cluster?.metadata.name ?? object.metadata.labels?.["cluster.x-k8s.io/cluster-name"] ?? object.metadata.name;
}

function ownerCluster(from: GatherFrom, object: HostedControlPlane): Cluster | undefined {
  const owner = object.metadata.ownerReferences?.find(
    (o) => o.kind === "Cluster" && o.apiVersion.startsWith("cluster.x-k8s.io/"),
  );
  return owner && from.clusters.get({ namespace: object.metadata.namespace ?? "", name: owner.name });
}

function keyPairOf(secret: Secret | undefined): KeyPair | undefined {
  const certificate = secretText(secret, "tls.crt");
  const key = secretText(secret, "tls.key");
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
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

/** A kubeconfig of another root, or one that we cannot read, counts as none. */
function kubeconfigOf(secret: Secret | undefined, ca: KeyPair | undefined): Observed["kubeconfig"] {
  if (secret?.data?.["value"] === undefined || ca === undefined) return undefined;
  const server = secret.metadata.annotations?.[kubeconfigServerAnnotation];
  const renewAt = Number(secret.metadata.annotations?.[kubeconfigRenewAnnotation]);
  const root = secret.metadata.annotations?.["controlplane.causeway.dev/root"];
  if (server === undefined || !Number.isFinite(renewAt) || root !== readCertificate(ca.certificate).serial)
    return undefined;
  return { server, renewAt };
}
