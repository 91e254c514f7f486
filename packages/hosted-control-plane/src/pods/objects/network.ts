import { canonicalJson, cidrContains, parseCidr } from "@causeway/foundation";
import type { KubeObject, Service } from "@causeway/kubernetes";
import type { ControlPlaneSpec } from "../../runtime.ts";
import { isPooled, type GatewaySettings, type PodsSettings } from "../options.ts";
import { managedBy, managedByLabel, poolNamespaceOf } from "../tenant.ts";
import type { NetworkPeer, NetworkPolicy, NetworkPolicySpec, NetworkPort } from "../types.ts";
import { gatewayEndpoint, hibernatedAnnotation, isBehindGateway, serverNameAnnotation } from "../gateway.ts";
import { API_SERVICE_PORT } from "./credentials.ts";
import { ETCD_CLIENT_PORT, ETCD_PEER_PORT } from "./etcd.ts";
import { labelsOf, namedMeta, selectorOf } from "./meta.ts";

/** Of a control plane on its way to its own etcd. */
export interface MovingNetwork {
  /** The label pod-template-hash of the API servers that clients reach. Default: all. */
  readonly heldBy?: string | undefined;
  /** API servers connect to the shared etcd and to the own one. */
  readonly both?: boolean;
  /** The namespace of the etcd that it shares. Default: that of its management cluster. */
  readonly pool?: string;
}

/**
 * The tenant's programs reach the API by this Service's name; from outside it is reached by its load balancer or node
 * port.
 */
export function apiService(
  spec: ControlPlaneSpec,
  namespace: string,
  { gateway }: PodsSettings,
  { heldBy }: MovingNetwork = {},
): Service {
  const selector = { ...labelsOf("kube-apiserver"), ...(heldBy === undefined ? {} : { "pod-template-hash": heldBy }) };
  if (isBehindGateway(spec) && gateway !== undefined)
    return serviceBehindGateway(namespace, annotationsBehindGateway(spec, namespace, gateway), selector);
  const type = spec.pods?.exposure ?? "LoadBalancer";
  const { port } = spec.endpoint;
  const wanted = port === 0 ? API_SERVICE_PORT : port;
  const outside =
    type === "NodePort" ? { port: API_SERVICE_PORT, ...(port === 0 ? {} : { nodePort: port }) } : { port: wanted };
  const ports = [{ name: "api", protocol: "TCP", targetPort: "api", ...outside }];
  const inside = type === "LoadBalancer" && wanted !== API_SERVICE_PORT;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: namedMeta(namespace, "kube-apiserver", "kube-apiserver"),
    spec: {
      type,
      selector,
      ports: inside
        ? [...ports, { name: "internal", protocol: "TCP", targetPort: "api", port: API_SERVICE_PORT }]
        : ports,
      ...(type === "LoadBalancer" && spec.allowedCidrs !== undefined
        ? { loadBalancerSourceRanges: [...spec.allowedCidrs] }
        : {}),
      ...(type === "LoadBalancer" && spec.endpoint.host !== "" ? { loadBalancerIP: spec.endpoint.host } : {}),
    },
  } as Service;
}

function annotationsBehindGateway(
  spec: ControlPlaneSpec,
  namespace: string,
  gateway: GatewaySettings,
): Record<string, string> {
  return {
    [serverNameAnnotation]: gatewayEndpoint(spec, namespace, gateway).host,
    ...(spec.replicas === 0 ? { [hibernatedAnnotation]: "true" } : {}),
  };
}

function serviceBehindGateway(
  namespace: string,
  annotations: Record<string, string>,
  selector: Record<string, string>,
): Service {
  const ports = [{ name: "api", protocol: "TCP", targetPort: "api", port: API_SERVICE_PORT }];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...namedMeta(namespace, "kube-apiserver", "kube-apiserver"),
      annotations,
    },
    spec: { type: "ClusterIP", selector, ports },
  } as Service;
}

/** Where the API can be reached; undefined: the service cluster has not assigned it yet. */
export function endpointOf(
  spec: ControlPlaneSpec,
  service: Service | undefined,
  { gateway }: PodsSettings,
): { host: string; port: number } | undefined {
  const port = service?.spec.ports?.find(({ name }) => name === "api");
  if (service === undefined || port === undefined) return undefined;
  if (isBehindGateway(spec)) return gateway && gatewayEndpoint(spec, service.metadata.namespace ?? "", gateway);
  if (service.spec.type === "NodePort") {
    if (port.nodePort === undefined || spec.endpoint.host === "") return undefined;
    return { host: spec.endpoint.host, port: port.nodePort };
  }
  const [ingress] = service.status?.loadBalancer?.ingress ?? [];
  const host = spec.endpoint.host === "" ? (ingress?.ip ?? "") : spec.endpoint.host;
  return host === "" || ingress === undefined ? undefined : { host, port: port.port };
}

const dns: { to: NetworkPeer[]; ports: NetworkPort[] } = {
  to: [
    {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
      podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
    },
  ],
  ports: [
    { port: 53, protocol: "UDP" },
    { port: 53, protocol: "TCP" },
  ],
};

const pods = (component: string): NetworkPeer => ({ podSelector: selectorOf(component) });
const tcp = (port: number | string): NetworkPort[] => [{ port, protocol: "TCP" }];

/** Nothing in the namespace is reached, and reaches anything, but what is listed here. */
export function networkPolicies(
  spec: ControlPlaneSpec,
  namespace: string,
  settings: PodsSettings,
  { both = false, pool = poolNamespaceOf(settings.owner) }: MovingNetwork = {},
): NetworkPolicy[] {
  const policy = (name: string, rules: Rules) => policyOf(namespace, name, rules);
  const toApi = { to: [pods("kube-apiserver")], ports: tcp("api") };
  const client = (name: string) => policy(name, { podSelector: selectorOf(name), egress: [dns, toApi] });
  return [
    policy("default-deny", { podSelector: {} }),
    policy("kube-apiserver", {
      podSelector: selectorOf("kube-apiserver"),
      ingress: [{ ...apiClients(spec, settings), ports: tcp("api") }],
      egress: [
        dns,
        { to: etcdPeers(spec, pool, both), ports: tcp(ETCD_CLIENT_PORT) },
        ...towardsNodes(settings),
        ...towardsAudit(settings),
        ...towardsIssuers(spec, settings),
      ],
    }),
    ...towardsSink(namespace, spec, settings),
    ...(isPooled(spec) && !both ? [] : [policyOf(namespace, "etcd", etcdRules(clientsOfOwn(settings)))]),
    client("kube-controller-manager"),
    client("kube-scheduler"),
    ...(spec.pods?.cloudConfigSecret === undefined
      ? []
      : [
          policy("cloud-controller-manager", {
            podSelector: selectorOf("cloud-controller-manager"),
            egress: [dns, toApi, { to: settings.cloudNetworks ? networks(settings.cloudNetworks) : anywhere }],
          }),
        ]),
  ];
}

/**
 * All but addresses of one link: a tenant names the cloud's address, and the metadata of the service cluster's nodes is
 * at one of them.
 */
const linkLocal = ["169.254.0.0/16", "fe80::/10"];
const anywhere: NetworkPeer[] = [
  { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] } },
  { ipBlock: { cidr: "::/0", except: ["fe80::/10"] } },
];

type Rules = Omit<NetworkPolicySpec, "policyTypes">;

function policyOf(namespace: string, name: string, rules: Rules): NetworkPolicy {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: namedMeta(namespace, name, name),
    spec: { policyTypes: ["Ingress", "Egress"], ...rules },
  };
}

function etcdRules(clients: NetworkPeer[]): Rules {
  const peers = { ports: tcp(ETCD_PEER_PORT) };
  return {
    podSelector: selectorOf("etcd"),
    ingress: [
      { from: clients, ports: tcp(ETCD_CLIENT_PORT) },
      { from: [pods("etcd")], ...peers },
    ],
    egress: [dns, { to: [pods("etcd")], ...peers }],
  };
}

/**
 * By a load balancer, from anywhere: who a client is, certificates and tokens say. Behind a gateway: from there, from
 * the tenant's own programs, and from this program.
 */
function apiClients(spec: ControlPlaneSpec, { gateway, operatorNamespace = "causeway-system" }: PodsSettings) {
  if (!isBehindGateway(spec) || gateway === undefined) return {};
  const namespaces = [...new Set([gateway.namespace, operatorNamespace])];
  const others = namespaces.map((name): NetworkPeer => ({ namespaceSelector: namespaceNamed(name) }));
  return { from: [{ podSelector: {} }, ...others] };
}

/** Its API servers, and who changes its members, backs it up and restores it. */
function clientsOfOwn({ operatorNamespace = "causeway-system" }: PodsSettings): NetworkPeer[] {
  return [pods("kube-apiserver"), { namespaceSelector: namespaceNamed(operatorNamespace) }];
}

const namespaceNamed = (name: string) => ({ matchLabels: { "kubernetes.io/metadata.name": name } });

/** Clients of the shared etcd: the API servers of all control planes, and who makes their users. */
export function poolPolicies(
  namespace: string,
  { operatorNamespace = "causeway-system" }: PodsSettings,
): NetworkPolicy[] {
  const ours = { matchLabels: { [managedByLabel]: managedBy } };
  const clients = [
    { namespaceSelector: ours, podSelector: selectorOf("kube-apiserver") },
    { namespaceSelector: namespaceNamed(operatorNamespace) },
  ];
  return [policyOf(namespace, "default-deny", { podSelector: {} }), policyOf(namespace, "etcd", etcdRules(clients))];
}

function etcdPeers(spec: ControlPlaneSpec, pool: string, both: boolean): NetworkPeer[] {
  const shared = { namespaceSelector: namespaceNamed(pool), podSelector: selectorOf("etcd") };
  if (both) return [shared, pods("etcd")];
  return [isPooled(spec) ? shared : pods("etcd")];
}

function networks(cidrs: readonly string[]): NetworkPeer[] {
  return cidrs.map((cidr) => ({ ipBlock: { cidr } }));
}

function towardsNodes({ tunnel, nodeNetworks = [] }: PodsSettings): NonNullable<NetworkPolicySpec["egress"]> {
  if (tunnel !== undefined) {
    const namespace = { matchLabels: { "kubernetes.io/metadata.name": tunnel.namespace } };
    return [{ to: [{ namespaceSelector: namespace }], ports: tcp(Number(new URL(tunnel.url).port || "443")) }];
  }
  return nodeNetworks.length === 0 ? [] : [{ to: networks(nodeNetworks) }];
}

function towardsAudit({ audit }: PodsSettings): NonNullable<NetworkPolicySpec["egress"]> {
  if (audit?.webhook === undefined) return [];
  const { url, namespace, podPort = Number(new URL(url).port || "443") } = audit.webhook;
  return [{ to: [{ namespaceSelector: namespaceNamed(namespace) }], ports: tcp(podPort) }];
}

/** Only of control planes that have issuers, at the ports of these. */
function towardsIssuers(
  { authentication: { jwt = [] } }: ControlPlaneSpec,
  { issuerNetworks = [] }: PodsSettings,
): NonNullable<NetworkPolicySpec["egress"]> {
  if (jwt.length === 0 || issuerNetworks.length === 0) return [];
  const ports = [...new Set(jwt.map(({ issuer }) => Number(new URL(issuer.url).port || "443")))].toSorted(
    (a, b) => a - b,
  );
  return [{ to: issuerNetworks.map(withoutLinkLocal), ports: ports.flatMap(tcp) }];
}

/**
 * A policy of its own, of control planes that name a sink of audit events: at the port of this, in no other network.
 */
function towardsSink(
  namespace: string,
  { audit }: ControlPlaneSpec,
  { auditNetworks = [] }: PodsSettings,
): NetworkPolicy[] {
  if (audit === undefined || auditNetworks.length === 0) return [];
  const ports = tcp(Number(new URL(audit.url).port || "443"));
  const egress = [{ to: auditNetworks.map(withoutLinkLocal), ports }];
  return [policyOf(namespace, SINK_POLICY, { podSelector: selectorOf("kube-apiserver"), egress })];
}

/** Of the policy towards a sink of audit events. */
export const SINK_POLICY = "kube-apiserver-audit";

/** It, without networks that the operator does not permit for sinks any more; undefined: it has none of them. */
export function withoutWithdrawnSinks(
  live: NetworkPolicy | undefined,
  { auditNetworks = [] }: PodsSettings,
): NetworkPolicy | undefined {
  const permitted = new Set(auditNetworks.map((cidr) => canonicalJson(withoutLinkLocal(cidr))));
  const { egress = [] } = live?.spec ?? {};
  const kept = egress.flatMap((rule) => {
    const to = (rule.to ?? []).filter((peer) => permitted.has(canonicalJson(peer)));
    return to.length === 0 ? [] : [{ ...rule, to }];
  });
  if (live === undefined || canonicalJson(kept) === canonicalJson(egress)) return undefined;
  const rules = { podSelector: selectorOf("kube-apiserver"), egress: kept };
  return policyOf(live.metadata.namespace ?? "", SINK_POLICY, rules);
}

/**
 * The policy of API servers as it is, without networks that the operator does not permit for issuers any more;
 * undefined: it has none of them. Only the rule of issuers has both addresses and ports.
 */
export function withoutWithdrawn(
  live: NetworkPolicy | undefined,
  { issuerNetworks = [] }: PodsSettings,
): NetworkPolicy | undefined {
  if (live === undefined) return undefined;
  const permitted = new Set(issuerNetworks.map((cidr) => canonicalJson(withoutLinkLocal(cidr))));
  const isWithdrawn = (peer: NetworkPeer): boolean => peer.ipBlock !== undefined && !permitted.has(canonicalJson(peer));
  const { egress = [], ...spec } = live.spec;
  const ofIssuers = ({ to = [], ports }: (typeof egress)[number]): boolean =>
    ports !== undefined && to.some(isWithdrawn);
  if (!egress.some(ofIssuers)) return undefined;
  const kept = egress.flatMap((rule) => {
    if (!ofIssuers(rule)) return [rule];
    // Without an address it would permit all of them.
    const to = rule.to?.filter((peer) => !isWithdrawn(peer)) ?? [];
    return to.length === 0 ? [] : [{ ...rule, to }];
  });
  const metadata = namedMeta(live.metadata.namespace ?? "", "kube-apiserver", "kube-apiserver");
  return { apiVersion: live.apiVersion, kind: live.kind, metadata, spec: { ...spec, egress: kept } };
}

/** Unless the network is one of a link itself. */
function withoutLinkLocal(cidr: string): NetworkPeer {
  const network = parseCidr(cidr);
  const inside = linkLocal.filter((each) => {
    const link = parseCidr(each);
    if (network === undefined || link === undefined || network.version !== link.version) return false;
    return network.prefix < link.prefix && cidrContains(network, { version: link.version, value: link.network });
  });
  return { ipBlock: { cidr, ...(inside.length === 0 ? {} : { except: inside }) } };
}

/** The Service of the API, and what pods of the namespace may connect to and be reached from. */
export function tenantNetwork(
  spec: ControlPlaneSpec,
  namespace: string,
  settings: PodsSettings,
  moving: MovingNetwork = {},
): KubeObject[] {
  return [apiService(spec, namespace, settings, moving), ...networkPolicies(spec, namespace, settings, moving)];
}
