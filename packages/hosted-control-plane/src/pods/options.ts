import type { ControlPlaneSpec } from "../runtime.ts";

/** What the operator allows at most. Undefined: no limit but the schema's. */
export interface Ceilings {
  readonly size?: SizeClass;
  /** API servers of one control plane. */
  readonly replicas?: number;
  /** Of each volume of an etcd of its own, such as "20Gi". */
  readonly storage?: string;
  /** StorageClasses that may be named. */
  readonly storageClasses?: readonly string[];
  /** Control planes of one namespace of the management cluster. */
  readonly controlPlanes?: number;
  /** All volumes of the control planes of one namespace of the management cluster. */
  readonly namespaceStorage?: string;
}

/** What the operator of a service cluster decides for all control planes in it. */
export interface PodsSettings {
  /** Which management cluster this is: part of the names of namespaces. It must not change. */
  readonly owner: string;
  /** The uid of the management cluster's namespace kube-system. Undefined: nothing is handed over. */
  readonly management?: string;
  /** Where images are pulled from. Default: registry.k8s.io. */
  readonly registry?: string;
  /** Image of Causeway, for the cloud controller manager. Undefined: control planes with a cloud are refused. */
  readonly causewayImage?: string;
  /**
   * Control planes may move from the shared etcd to their own. Default: such a change is refused; a move that is under
   * way continues.
   */
  readonly datastoreMoves?: boolean;
  /** More versions of Kubernetes, or other images: by minor version, such as "v1.34". */
  readonly versions?: Readonly<Record<string, VersionImages>>;
  /** Domain of the service cluster's DNS. Default: cluster.local. */
  readonly clusterDomain?: string;
  /** Networks that API servers may connect to without a tunnel: those of nodes. Default: none. */
  readonly nodeNetworks?: readonly string[];
  /** What control planes may request at most. */
  readonly ceilings?: Ceilings;
  /** The etcd that control planes share. */
  readonly pool?: PoolSettings;
  /**
   * Namespace of this program's pods in the service cluster, which may connect to the pooled etcd. Default:
   * causeway-system.
   */
  readonly operatorNamespace?: string;
  /** Networks of the cloud's APIs, for cloud controller managers. Default: any address. */
  readonly cloudNetworks?: readonly string[];
  /** Networks of the OIDC issuers that tenants may name: API servers connect to them. Default: they may name none. */
  readonly issuerNetworks?: readonly string[];
  /** Networks of the sinks of audit events that tenants may name. Default: they may name none. */
  readonly auditNetworks?: readonly string[];
  /** The tunnel to the tenants' nodes. Undefined: API servers connect to nodes themselves. */
  readonly tunnel?: TunnelSettings;
  /** Where API servers write who did what. Default: to their containers' logs. */
  readonly audit?: AuditSettings;
  /** The gateway that tenants share. Undefined: control planes with exposure Gateway are refused. */
  readonly gateway?: GatewaySettings;
}

/** Where the audit events of all control planes go: who did what to which object, without content. */
export interface AuditSettings {
  /**
   * "Stdout": the container's log. "File": a volume of the pod, which has 500 MiB at most and ends with the pod.
   * "None": to the webhook only.
   */
  readonly log: "Stdout" | "File" | "None";
  readonly webhook?: AuditWebhook;
}

/** Receives EventLists (audit.k8s.io/v1) at URL/NAMESPACE/NAME of the control plane, in batches; none is waited for. */
export interface AuditWebhook {
  /** "https://audit.logging.svc:8443/kubernetes" */
  readonly url: string;
  /** PEM certificates of the authority of its certificate. */
  readonly certificateAuthority: string;
  /**
   * Sent as a bearer token, by which the webhook knows that events are of an API server: tenants can have their own one
   * connect to the webhook, by the proxy of the API to Services.
   */
  readonly token: string;
  /** Namespace of its pods, for the NetworkPolicy. */
  readonly namespace: string;
  /** Port of its pods, which NetworkPolicies are about. Default: that of `url`. */
  readonly podPort?: number;
}

/** The gateway whose one port leads to the API servers of all tenants (package api-gateway). */
export interface GatewaySettings {
  /** "api.example.org": names below it lead to the gateway. */
  readonly domain: string;
  readonly port: number;
  /** An address of the gateway for kubeconfigs of people whose DNS does not know the domain. */
  readonly address?: string;
  /** At which each node of a tenant has its proxy. */
  readonly nodeAddress: string;
  /** Namespace of the gateway's pods, for the NetworkPolicy. */
  readonly namespace: string;
}

/** The etcd that control planes without one of their own share. */
export interface PoolSettings {
  /** 1 or 3, kept as it was at the beginning. Default: 3. */
  readonly members?: number;
  /** Size of each member's volume. Default: 8Gi. */
  readonly storage?: string;
  readonly storageClassName?: string;
  /** Milliseconds that it keeps the data of a control plane that moved to its own etcd. Default: a day. */
  readonly retention?: number;
}

/** How API servers reach the nodes of their cluster. */
export interface TunnelSettings {
  /** "https://tunnel-server.causeway-system.svc:8090": the server's port for API servers. */
  readonly url: string;
  /** PEM certificates of the authority of the server's certificate. */
  readonly certificateAuthority: string;
  /** Namespace of its pods, for the NetworkPolicy. */
  readonly namespace: string;
}

/** Tags of images for one minor version. */
export interface VersionImages {
  /** Tag of etcd, such as "3.6.4-0". */
  readonly etcd: string;
}

/** `spec.pods` of a HostedControlPlane, as runtimes get it. */
export type PodsSpec = NonNullable<ControlPlaneSpec["pods"]>;
/** Does it store its objects in the etcd that control planes share? */
export function isPooled({ pods }: Pick<ControlPlaneSpec, "pods">): boolean {
  return (pods?.datastore?.type ?? "Pooled") === "Pooled";
}

/** Small, Medium or Large; `sizes` says what each is given. */
export type SizeClass = NonNullable<PodsSpec["size"]>;
