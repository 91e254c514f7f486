import { parseCidr } from "@causeway/foundation";
import type { Node, Service, ServicePort } from "@causeway/kubernetes";
import type { ListenerProtocol, MemberCreate } from "@causeway/openstack";
import {
  restriction,
  type DesiredMonitor,
  type DesiredPool,
  type ListenerSettings,
  type ProviderLimits,
} from "@causeway/octavia-tree";
import { childName } from "./names.ts";
import type { Parameters } from "./parameters.ts";

/** One port of the Service as Octavia shall have it: a listener with its pool. */
export interface DesiredPort extends ListenerSettings, DesiredPool {
  readonly index: number;
  readonly listenerName: string;
  readonly protocol: ListenerProtocol;
  readonly port: number;
}

/** What the ports of a load balancer are derived from. */
export interface DesireFrom {
  readonly service: Service;
  readonly nodes: readonly Node[];
  readonly parameters: Parameters;
  readonly limits: ProviderLimits;
  readonly lbName: string;
  readonly memberSubnetId: string | undefined;
  readonly serial: boolean;
}

/** The listener, pool and members that each port of the Service needs, in the order of spec.ports. */
export function desiredPorts(from: DesireFrom): DesiredPort[] {
  return (from.service.spec.ports ?? []).map((port, index) => desiredPort(from, port, index));
}

function desiredPort(from: DesireFrom, port: ServicePort, index: number): DesiredPort {
  const { parameters, limits, lbName, service } = from;
  const protocol = port.protocol ?? "TCP";
  const tcp = protocol === "TCP";
  const tls = tcp && parameters.tlsContainerRef !== "";
  const http = tcp && parameters.insertHeaders.length > 0;
  const proxy = tcp ? parameters.proxyProtocol : undefined;
  return {
    index,
    listenerName: childName("listener", index, lbName),
    poolName: childName("pool", index, lbName),
    monitorName: childName("monitor", index, lbName),
    protocol: tls ? "TERMINATED_HTTPS" : http ? "HTTP" : protocol,
    port: port.port,
    poolProtocol: proxy ?? (tls || http ? "HTTP" : protocol),
    algorithm: limits.algorithm ?? parameters.method ?? "ROUND_ROBIN",
    persistence: service.spec.sessionAffinity === "ClientIP" && limits.persistence ? { type: "SOURCE_IP" } : null,
    members: members(from, port, protocol),
    monitor: desiredMonitor(from, protocol),
    serial: from.serial,
    memberCosts: limits.memberCosts,
    tags: limits.tags ? [...new Set([lbName, ...parameters.tags])] : [],
    connectionLimit: parameters.connectionLimit,
    allowedCidrs: limits.allowedCidrs ? restriction(ownRanges(parameters, service)) : undefined,
    tlsContainerRef: tls ? parameters.tlsContainerRef : undefined,
    insertHeaders: http ? Object.fromEntries(parameters.insertHeaders.map((name) => [name, "true"])) : undefined,
    timeouts: limits.timeouts ? parameters.timeouts : undefined,
  };
}

function desiredMonitor(from: DesireFrom, protocol: string): DesiredMonitor | undefined {
  const { monitor } = from.parameters;
  if (!monitor || !from.limits.monitors.includes(protocol)) return undefined;
  if (checksHealthPort(from, protocol)) return { type: "HTTP", ...monitor };
  const type = protocol === "UDP" ? "UDP-CONNECT" : protocol === "SCTP" ? "SCTP" : "TCP";
  return { type, ...monitor };
}

/** With externalTrafficPolicy Local only nodes that have pods answer on the health check port. */
function checksHealthPort({ service: { spec }, limits }: DesireFrom, protocol: string): boolean {
  const local = spec.externalTrafficPolicy === "Local" && (spec.healthCheckNodePort ?? 0) > 0;
  return local && limits.healthPort.includes(protocol);
}

/** Nodes without an address of the Service's family, and ports without a node port, give no members. */
function members(from: DesireFrom, port: ServicePort, protocol: string): MemberCreate[] {
  const nodePort = port.nodePort ?? 0;
  if (nodePort === 0) return [];
  const family = from.service.spec.ipFamilies?.[0] ?? "IPv4";
  const monitored = from.parameters.monitor !== undefined && checksHealthPort(from, protocol);
  return from.nodes.flatMap((node) => {
    const address = nodeAddress(node, family);
    if (address === undefined) return [];
    return {
      name: node.metadata.name,
      address,
      protocol_port: nodePort,
      ...(from.memberSubnetId === undefined ? {} : { subnet_id: from.memberSubnetId }),
      ...(monitored ? { monitor_port: from.service.spec.healthCheckNodePort ?? 0 } : {}),
    };
  });
}

/** The first InternalIP of the family, else the first ExternalIP. */
export function nodeAddress(node: Node, family: "IPv4" | "IPv6"): string | undefined {
  const ofFamily = (node.status?.addresses ?? []).filter((a) => a.address.includes(":") === (family === "IPv6"));
  return (ofFamily.find((a) => a.type === "InternalIP") ?? ofFamily.find((a) => a.type === "ExternalIP"))?.address;
}

/** Nodes that may be members: not excluded, not being deleted, initialised, chosen by the selector. */
export function eligibleNodes(nodes: readonly Node[], selector: string): Node[] {
  return nodes
    .filter((node) => !isExcluded(node))
    .filter((node) => !node.spec?.taints?.some((t) => t.key === "node.cloudprovider.kubernetes.io/uninitialized"))
    .filter((node) => matches(node.metadata.labels ?? {}, selector))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Whether a Node is to be no member, or is to leave. */
export function isExcluded({ metadata, spec }: Node): boolean {
  return (
    metadata.deletionTimestamp !== undefined ||
    isTrueLabel(metadata.labels?.["node.kubernetes.io/exclude-from-external-load-balancers"]) ||
    spec?.taints?.some(({ key }) => key === "ToBeDeletedByClusterAutoscaler") === true
  );
}

/** The spellings of false of Go's strconv.ParseBool, which cloud-provider asks; everything else excludes. */
const falseWords = ["0", "f", "F", "false", "FALSE", "False"];

function isTrueLabel(value: string | undefined): boolean {
  return value !== undefined && !falseWords.includes(value);
}

/** "key=value,key": a key alone must exist. */
function matches(labels: Readonly<Record<string, string>>, selector: string): boolean {
  const terms = selector
    .split(",")
    .map((t) => t.trim())
    .filter((t) => t !== "");
  return terms.every((term) => {
    const at = term.indexOf("=");
    return at === -1 ? labels[term] !== undefined : labels[term.slice(0, at)] === term.slice(at + 1);
  });
}

/**
 * A listener takes ranges of its VIP's family alone: where both are given, the others are for the other load balancer.
 */
export function ownRanges({ sourceRanges }: Pick<Parameters, "sourceRanges">, { spec }: Service): readonly string[] {
  const own = sourceRanges.filter((range) => range.includes(":") === (spec.ipFamilies?.[0] === "IPv6"));
  return own.length === 0 ? sourceRanges : own;
}

/** Source ranges that are no CIDRs. */
export function invalidRanges(ranges: readonly string[]): string[] {
  return ranges.filter((range) => parseCidr(range) === undefined);
}
