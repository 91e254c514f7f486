import { isIP } from "node:net";
import type { ConfigMap, Deployment, KubeObject } from "@causeway/kubernetes";
import { auditPolicy } from "../../at-rest.ts";
import { flagArgs, withFlags } from "../../flags.ts";
import { issuersFile, issuersText, issuersVersion, issuersVersions } from "../../issuers.ts";
import type { ControlPlaneSpec } from "../../runtime.ts";
import { minorNumber } from "../../versions.ts";
import type { Images } from "../images.ts";
import { isPooled, type AuditSettings, type TunnelSettings } from "../options.ts";
import type { Size } from "../sizes.ts";
import { prefixOf } from "../tenant.ts";
import { auditArgs, auditMounts } from "./audit.ts";
import { ETCD_CLIENT_PORT } from "./etcd.ts";
import { namedMeta, selectorOf } from "./meta.ts";
import { disruptionBudget, podAddress, podTemplate } from "./pod.ts";

/** What the objects of the API servers are made from. */
export interface ApiServerFrom {
  readonly spec: ControlPlaneSpec;
  readonly namespace: string;
  readonly version: string;
  readonly images: Images;
  readonly size: Size;
  readonly replicas: number;
  readonly endpoint: { readonly host: string; readonly port: number };
  readonly tunnel: TunnelSettings | undefined;
  readonly audit?: AuditSettings | undefined;
  readonly credentials: string;
  /** Members of its own etcd that it connects to. */
  readonly etcdMembers: number;
  /** URLs of the shared etcd. */
  readonly poolServers: readonly string[];
  /** All are replaced at once. */
  readonly atOnce?: boolean;
}

const DEFAULT_AUDIT: AuditSettings = { log: "Stdout" };
const PKI = "/etc/kubernetes/pki";
const CONFIG = "/etc/kubernetes/config";
const ENCRYPTION = "/etc/kubernetes/encryption";

/**
 * What kube-apiserver is configured with: no secrets. It reads its issuers again when they change. During an upgrade
 * two versions of it have this object, each with a file of its own.
 */
export function apiServerConfig({
  namespace,
  tunnel,
  spec,
}: Pick<ApiServerFrom, "namespace" | "tunnel" | "spec">): ConfigMap {
  const { jwt } = spec.authentication;
  const issuers = jwt === undefined ? [] : issuersVersions.map((of) => [issuersFile(of), issuersText(jwt, of)]);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: namedMeta(namespace, "kube-apiserver", "kube-apiserver"),
    data: {
      "audit-policy.yaml": auditPolicy,
      ...(tunnel === undefined ? {} : { "egress.yaml": json(egressSelector(tunnel)) }),
      ...(Object.fromEntries(issuers) as Record<string, string>),
    },
  };
}

function egressSelector({ url }: TunnelSettings) {
  const tlsConfig = {
    caBundle: `${PKI}/tunnel-ca.crt`,
    clientCert: `${PKI}/tunnel-client.crt`,
    clientKey: `${PKI}/tunnel-client.key`,
  };
  return {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      { name: "cluster", connection: { proxyProtocol: "HTTPConnect", transport: { tcp: { url, tlsConfig } } } },
    ],
  };
}

/** JSON is YAML: a text that does not depend on a writer of YAML. */
function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** kube-apiserver, and how many of it a drain may stop. Its Service is with the network's objects. */
export function apiServerObjects(from: ApiServerFrom): KubeObject[] {
  return [deployment(from), disruptionBudget(from.namespace, "kube-apiserver")];
}

function deployment(from: ApiServerFrom): Deployment {
  const { namespace, version, images, size, replicas, endpoint } = from;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: namedMeta(namespace, "kube-apiserver", "kube-apiserver"),
    spec: {
      replicas,
      selector: selectorOf("kube-apiserver"),
      // Old ones serve until a new one is ready: a bad version changes nothing for clients.
      strategy: {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: from.atOnce === true ? "100%" : 1, maxUnavailable: 0 },
      },
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 600,
      template: podTemplate({
        component: "kube-apiserver",
        version,
        image: images.apiServer,
        command: ["kube-apiserver", ...withFlags(args(from), flagArgs("apiServer", from.spec.flags))],
        resources: size.apiServer,
        credentials: from.credentials,
        mounts: [
          { name: "pki", path: PKI, secret: "kube-apiserver" },
          { name: "encryption", path: ENCRYPTION, secret: "encryption" },
          { name: "config", path: CONFIG, configMap: "kube-apiserver" },
          ...auditMounts(from.audit ?? DEFAULT_AUDIT),
        ],
        ports: { api: endpoint.port },
        live: { path: "/livez", port: endpoint.port, scheme: "HTTPS" },
        ready: { path: "/readyz", port: endpoint.port, scheme: "HTTPS" },
        // Ten seconds in which load balancers notice, and a minute for requests in flight.
        grace: 75,
        bindsLowPorts: true,
      }),
    },
  } as Deployment;
}

/**
 * The flags. The port is the one of the endpoint: the Service `kubernetes` inside the tenant gets this port with the
 * advertised address. Of a tenant's flags there are only those of the table: others could read files, or leave its
 * network.
 */
function args({
  spec,
  namespace,
  endpoint,
  tunnel,
  size,
  poolServers,
  audit,
  etcdMembers,
  version,
}: ApiServerFrom): string[] {
  const servers = isPooled(spec) ? poolServers : ownServers(etcdMembers, namespace);
  const [reads, writes] = size.inflight;
  return [
    `--bind-address=${podAddress}`,
    `--secure-port=${endpoint.port}`,
    ...(isIP(endpoint.host) === 0 ? [] : [`--advertise-address=${endpoint.host}`]),
    "--allow-privileged=true",
    "--anonymous-auth=true",
    ...auditArgs(audit ?? DEFAULT_AUDIT, spec.audit, PKI),
    `--audit-policy-file=${CONFIG}/audit-policy.yaml`,
    ...(spec.authentication.jwt === undefined
      ? []
      : [`--authentication-config=${CONFIG}/${issuersFile(issuersVersion(version))}`]),
    "--authorization-mode=Node,RBAC",
    `--client-ca-file=${PKI}/ca.crt`,
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth=true",
    `--encryption-provider-config=${ENCRYPTION}/config.yaml`,
    `--etcd-servers=${servers.join(",")}`,
    ...(isPooled(spec) ? pooledArgs(namespace, version) : []),
    `--etcd-cafile=${PKI}/etcd-ca.crt`,
    `--etcd-certfile=${PKI}/etcd-client.crt`,
    `--etcd-keyfile=${PKI}/etcd-client.key`,
    `--kubelet-client-certificate=${PKI}/kubelet-client.crt`,
    `--kubelet-client-key=${PKI}/kubelet-client.key`,
    "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
    `--max-requests-inflight=${reads}`,
    `--max-mutating-requests-inflight=${writes}`,
    "--profiling=false",
    ...frontProxy(spec),
    `--service-account-issuer=https://kubernetes.default.svc.${spec.dnsDomain}`,
    `--service-account-key-file=${PKI}/sa.pub`,
    `--service-account-signing-key-file=${PKI}/sa.key`,
    `--service-cluster-ip-range=${spec.serviceCidr}`,
    "--shutdown-delay-duration=10s",
    "--shutdown-send-retry-after=true",
    `--tls-cert-file=${PKI}/apiserver.crt`,
    `--tls-private-key-file=${PKI}/apiserver.key`,
    ...(tunnel === undefined ? [] : [`--egress-selector-config-file=${CONFIG}/egress.yaml`]),
  ];
}

/**
 * What is off in the shared etcd, with the minor versions in which it is on by default and has a switch.
 *
 * A tenant is a user with its prefix alone. etcd 3.6.4 responds to Maintenance.Status of such a user with
 * PermissionDenied (etcd-io/etcd#21663), so that kube-apiserver takes etcd for one that reports no progress, and still
 * waits for it with WatchList: each watch without a resourceVersion of a resource that did not change lately ends after
 * 3 s with "Too large resource version".
 *
 * etcd compacts itself, since a tenant may not, and kube-apiserver hears of no compaction then. With
 * ListFromCacheSnapshot it would continue lists of old revisions for ever, whose tokens are to expire.
 */
const SWITCHED_OFF: Readonly<Record<string, readonly number[]>> = {
  WatchList: [32, 34, 35, 36],
  ListFromCacheSnapshot: [34, 35, 36],
};

function pooledArgs(namespace: string, version: string): string[] {
  const minor = minorNumber(version);
  const off = Object.keys(SWITCHED_OFF).filter((gate) => SWITCHED_OFF[gate]?.includes(minor));
  return [
    `--etcd-prefix=${prefixOf(namespace)}registry`,
    "--etcd-compaction-interval=0",
    ...(off.length > 0 ? [`--feature-gates=${off.map((gate) => `${gate}=false`).join(",")}`] : []),
  ];
}

function ownServers(members: number, namespace: string): string[] {
  return Array.from({ length: members }, (_, index) => index).map(
    (index) => `https://etcd-${index}.etcd.${namespace}.svc:${ETCD_CLIENT_PORT}`,
  );
}

function frontProxy({ frontProxy: root }: ControlPlaneSpec): string[] {
  if (root === undefined) return [];
  return [
    `--proxy-client-cert-file=${PKI}/front-proxy-client.crt`,
    `--proxy-client-key-file=${PKI}/front-proxy-client.key`,
    "--requestheader-allowed-names=front-proxy-client",
    `--requestheader-client-ca-file=${PKI}/front-proxy-ca.crt`,
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
  ];
}
