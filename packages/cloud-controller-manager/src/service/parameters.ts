import { formatCidr, parseCidr } from "@causeway/foundation";
import type { Service } from "@causeway/kubernetes";
import type { LbAlgorithm } from "@causeway/openstack";
import type { LoadBalancerConfig, LoadBalancerPlacement } from "../config/config.ts";
import { annotation, isProofTag } from "./names.ts";

/** What a Service asks for, after its annotations, its class and cloud.conf have been weighed. */
export interface Parameters {
  readonly internal: boolean;
  readonly networkId: string | undefined;
  readonly subnetId: string | undefined;
  readonly memberSubnetId: string | undefined;
  readonly portId: string | undefined;
  readonly floatingNetworkId: string | undefined;
  readonly floatingSubnetId: string | undefined;
  /** Name pattern and tags of subnets; only where no subnet is named by its id. */
  readonly floatingSubnet: string | undefined;
  readonly floatingSubnetTags: string | undefined;
  readonly keepFloatingIp: boolean;
  readonly hostname: string | undefined;
  readonly method: LbAlgorithm | undefined;
  /** Asked for, and known to nobody. */
  readonly unknownMethod: string | undefined;
  readonly proxyProtocol: "PROXY" | "PROXYV2" | undefined;
  /** Headers that the load balancer adds to requests: "X-Forwarded-For", "-Port", "-Proto". */
  readonly insertHeaders: readonly string[];
  /** Barbican's reference to the certificate with which TLS ends at the load balancer; "": it does not. */
  readonly tlsContainerRef: string;
  readonly connectionLimit: number;
  readonly timeouts: {
    readonly clientData: number;
    readonly memberConnect: number;
    readonly memberData: number;
    readonly tcpInspect: number;
  };
  readonly flavorId: string | undefined;
  /** Asked for by the Service itself. */
  readonly provider: string | undefined;
  /** Tags that the Service wants on its load balancer and listeners, beside ours. */
  readonly tags: readonly string[];
  readonly availabilityZone: string | undefined;
  readonly monitor:
    | { readonly delay: number; readonly timeout: number; readonly maxRetries: number; readonly maxRetriesDown: number }
    | undefined;
  readonly nodeSelector: string;
  readonly sourceRanges: readonly string[];
  /** Why the Service cannot be served as it is written; empty when it can. */
  readonly problems: readonly string[];
}

class Annotations {
  readonly #values: Readonly<Record<string, string>>;

  constructor(service: Service) {
    this.#values = service.metadata.annotations ?? {};
  }

  /** Present and not empty. */
  text(key: string): string | undefined {
    return this.#values[key] === "" ? undefined : this.#values[key];
  }

  /** Present, even if empty: an empty value wins over the configuration. */
  raw(key: string): string | undefined {
    return this.#values[key];
  }

  /** Only "true" and "false" count. */
  flag(key: string, otherwise: boolean): boolean {
    const value = this.#values[key];
    return value === "true" || value === "false" ? value === "true" : otherwise;
  }

  /** What Go's strconv.Atoi does not parse is the default. */
  number(key: string, otherwise: number): number {
    const value = this.#values[key];
    if (value === undefined || !/^[+-]?\d{1,400}$/.test(value)) return otherwise;
    const whole = BigInt(value.replace("+", ""));
    return BigInt.asIntN(64, whole) === whole ? Number(whole) : otherwise;
  }
}

const methods: readonly string[] = ["ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"];

/** Weighs annotations against the class and cloud.conf, in cloud-provider-openstack's order of precedence. */
export function parametersOf(service: Service, config: LoadBalancerConfig): Parameters {
  const from = new Annotations(service);
  const className = from.text(annotation.class);
  const chosen = className === undefined ? undefined : config.classes.get(className);
  const proxy = from.text(annotation.proxyProtocol);
  const proxyProtocol = proxy === "true" || proxy === "v1" ? "PROXY" : proxy === "v2" ? "PROXYV2" : undefined;
  const insertHeaders = headersOf(from);
  const method = from.text(annotation.method) ?? config.method;
  return {
    internal: config.internal || from.flag(annotation.internal, false),
    ...placement(from, chosen, config),
    portId: from.text(annotation.portId),
    keepFloatingIp: from.flag(annotation.keepFloatingIp, false),
    hostname: from.text(annotation.hostname),
    method: isMethod(method) ? method : undefined,
    unknownMethod: method === undefined || isMethod(method) ? undefined : method,
    proxyProtocol,
    insertHeaders,
    tlsContainerRef: from.raw(annotation.tlsContainerRef) ?? config.defaultTlsContainerRef,
    connectionLimit: from.number(annotation.connectionLimit, -1),
    timeouts: {
      clientData: from.number(annotation.timeoutClientData, 50_000),
      memberConnect: from.number(annotation.timeoutMemberConnect, 5_000),
      memberData: from.number(annotation.timeoutMemberData, 50_000),
      tcpInspect: from.number(annotation.timeoutTcpInspect, 0),
    },
    flavorId: (from.raw(annotation.flavorId) ?? config.flavorId) || undefined,
    availabilityZone: (from.raw(annotation.availabilityZone) ?? config.availabilityZone) || undefined,
    provider: from.text(annotation.provider),
    tags: [...new Set(listOf(from.text(annotation.tags)))].filter((tag) => !isProofTag(tag)),
    monitor: monitorOf(from, config),
    nodeSelector: from.raw(annotation.nodeSelector) ?? config.nodeSelector,
    sourceRanges: sourceRangesOf(service, from),
    problems: problemsOf({
      service,
      className,
      classKnown: chosen !== undefined,
      conflicting: insertHeaders.length > 0 && proxyProtocol !== undefined,
    }),
  };
}

function headersOf(from: Annotations): string[] {
  const headers = [
    [annotation.xForwardedFor, "X-Forwarded-For"],
    [annotation.xForwardedPort, "X-Forwarded-Port"],
    [annotation.xForwardedProto, "X-Forwarded-Proto"],
  ] as const;
  return headers.filter(([key]) => from.flag(key, false)).map(([, header]) => header);
}

/** Of a comma list. */
function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function isMethod(value: string | undefined): value is LbAlgorithm {
  return value !== undefined && methods.includes(value);
}

type Placed = Pick<Parameters, "networkId" | "subnetId" | "memberSubnetId"> &
  Pick<Parameters, "floatingNetworkId" | "floatingSubnetId" | "floatingSubnet" | "floatingSubnetTags">;

function placement(from: Annotations, chosen: LoadBalancerPlacement | undefined, config: LoadBalancerConfig): Placed {
  return {
    ...vipPlace(from, chosen, config),
    memberSubnetId: from.text(annotation.memberSubnetId) ?? chosen?.memberSubnetId ?? config.memberSubnetId,
    ...floatingPlace(from, chosen, config),
  };
}

/** Subnet and network from the nearest that names either: a Service's network is not overruled by cloud.conf's subnet. */
function vipPlace(
  from: Annotations,
  chosen: LoadBalancerPlacement | undefined,
  config: LoadBalancerConfig,
): Pick<Placed, "networkId" | "subnetId"> {
  const own = { subnetId: from.text(annotation.subnetId), networkId: from.text(annotation.networkId) };
  const places = [own, chosen ?? {}, config];
  const place = places.find((p) => p.subnetId !== undefined || p.networkId !== undefined);
  return { networkId: place?.networkId, subnetId: place?.subnetId };
}

/** The class comes before the annotation here. An empty floating-network-id asks for one to be found. */
function floatingPlace(
  from: Annotations,
  chosen: LoadBalancerPlacement | undefined,
  config: LoadBalancerConfig,
): Omit<Placed, "networkId" | "subnetId" | "memberSubnetId"> {
  const annotated: FloatingSubnets = {
    floatingSubnetId: from.text(annotation.floatingSubnetId),
    floatingSubnet: from.text(annotation.floatingSubnet),
    floatingSubnetTags: from.text(annotation.floatingSubnetTags),
  };
  // What one of them says is taken as a whole: a name that the Service wants is not overruled by an id of cloud.conf's.
  const said = [chosen ?? {}, annotated, config].find(saysSubnet) ?? {};
  const byId = said.floatingSubnetId !== undefined;
  return {
    floatingNetworkId:
      (chosen?.floatingNetworkId ?? from.raw(annotation.floatingNetworkId) ?? config.floatingNetworkId) || undefined,
    floatingSubnetId: said.floatingSubnetId,
    floatingSubnet: byId ? undefined : said.floatingSubnet,
    floatingSubnetTags: byId ? undefined : said.floatingSubnetTags,
  };
}

type FloatingSubnets = {
  readonly [K in "floatingSubnetId" | "floatingSubnet" | "floatingSubnetTags"]?: string | undefined;
};

function saysSubnet({ floatingSubnetId, floatingSubnet, floatingSubnetTags }: FloatingSubnets): boolean {
  return (floatingSubnetId ?? floatingSubnet ?? floatingSubnetTags) !== undefined;
}

function monitorOf(from: Annotations, config: LoadBalancerConfig): Parameters["monitor"] {
  if (!from.flag(annotation.enableHealthMonitor, config.createMonitor)) return undefined;
  return {
    delay: from.number(annotation.healthMonitorDelay, config.monitor.delay),
    timeout: from.number(annotation.healthMonitorTimeout, config.monitor.timeout),
    maxRetries: from.number(annotation.healthMonitorMaxRetries, config.monitor.maxRetries),
    maxRetriesDown: from.number(annotation.healthMonitorMaxRetriesDown, config.monitor.maxRetriesDown),
  };
}

/** As the cloud will show them, each once; what is no CIDR stays as it is, to be told. */
function sourceRangesOf(service: Service, from: Annotations): readonly string[] {
  const own = service.spec.loadBalancerSourceRanges ?? [];
  const asked = listOf(own.length > 0 ? own.join(",") : from.text(annotation.sourceRanges));
  const networks = asked.map((range) => {
    const cidr = parseCidr(range);
    return cidr ? formatCidr(cidr) : range;
  });
  return [...new Set(networks)];
}

function problemsOf(found: {
  service: Service;
  className: string | undefined;
  classKnown: boolean;
  conflicting: boolean;
}): string[] {
  const problems: string[] = [];
  if (found.className !== undefined && !found.classKnown)
    problems.push(`there is no LoadBalancerClass "${found.className}" in cloud.conf`);
  if (found.conflicting) problems.push("proxy-protocol and x-forwarded-for cannot be combined");
  if ((found.service.spec.ports ?? []).length === 0) problems.push("the Service has no ports");
  return problems;
}
