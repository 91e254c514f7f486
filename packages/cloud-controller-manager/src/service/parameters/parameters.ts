import { formatCidr, parseCidr } from "@causeway/foundation";
import type { Service } from "@causeway/kubernetes";
import type { LbAlgorithm } from "@causeway/openstack";
import type { LoadBalancerConfig, LoadBalancerPlacement } from "../../config/config.ts";
import {
  annotation,
  annotations,
  type AnnotationName,
  type AnnotationOf,
  wholeNumber,
} from "../../config/annotations.ts";
import { isProofTag } from "./names.ts";

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
  /** The algorithm of the annotation that Octavia does not have. */
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
  /** Requested by the Service itself. */
  readonly provider: string | undefined;
  /** Tags that the Service wants on its load balancer and listeners, in addition to ours. */
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

/** A Service's annotations, read as the table says; what is malformed is the default, as upstream. */
class Annotations {
  readonly #values: Readonly<Record<string, string>>;

  constructor(service: Service) {
    this.#values = service.metadata.annotations ?? {};
  }

  /** Present and not empty. */
  text(name: AnnotationName): string | undefined {
    return this.raw(name) === "" ? undefined : this.raw(name);
  }

  /** Present, even if empty: an empty value wins over the configuration. */
  raw(name: AnnotationName): string | undefined {
    return this.#values[annotation[name]];
  }

  /** Only "true" and "false" count. */
  flag(name: AnnotationOf<"flag">, otherwise: boolean = annotations[name].default): boolean {
    const value = this.raw(name);
    return value === "true" || value === "false" ? value === "true" : otherwise;
  }

  number(name: AnnotationOf<"number">, otherwise: number = annotations[name].default): number {
    return wholeNumber(this.raw(name) ?? "") ?? otherwise;
  }
}

const methods: readonly string[] = annotations.method.choices;

/** Weighs annotations against the class and cloud.conf, in cloud-provider-openstack's order of precedence. */
export function parametersOf(service: Service, config: LoadBalancerConfig): Parameters {
  const from = new Annotations(service);
  const className = from.text("class");
  const chosen = className === undefined ? undefined : config.classes.get(className);
  const proxy = from.text("proxyProtocol");
  const proxyProtocol = proxy === "true" || proxy === "v1" ? "PROXY" : proxy === "v2" ? "PROXYV2" : undefined;
  const insertHeaders = headersOf(from);
  const method = from.text("method") ?? config.method;
  return {
    internal: config.internal || from.flag("internal"),
    ...placement(from, chosen, config),
    portId: from.text("portId"),
    keepFloatingIp: from.flag("keepFloatingIp"),
    hostname: from.text("hostname"),
    method: isMethod(method) ? method : undefined,
    unknownMethod: method === undefined || isMethod(method) ? undefined : method,
    proxyProtocol,
    insertHeaders,
    tlsContainerRef: from.raw("tlsContainerRef") ?? config.defaultTlsContainerRef,
    connectionLimit: from.number("connectionLimit"),
    timeouts: {
      clientData: from.number("timeoutClientData"),
      memberConnect: from.number("timeoutMemberConnect"),
      memberData: from.number("timeoutMemberData"),
      tcpInspect: from.number("timeoutTcpInspect"),
    },
    flavorId: (from.raw("flavorId") ?? config.flavorId) || undefined,
    availabilityZone: (from.raw("availabilityZone") ?? config.availabilityZone) || undefined,
    provider: from.text("provider"),
    tags: [...new Set(listOf(from.text("tags")))].filter((tag) => !isProofTag(tag)),
    monitor: monitorOf(from, config),
    nodeSelector: from.raw("nodeSelector") ?? config.nodeSelector,
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
    ["xForwardedFor", "X-Forwarded-For"],
    ["xForwardedPort", "X-Forwarded-Port"],
    ["xForwardedProto", "X-Forwarded-Proto"],
  ] as const;
  return headers.filter(([name]) => from.flag(name)).map(([, header]) => header);
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
    memberSubnetId: from.text("memberSubnetId") ?? chosen?.memberSubnetId ?? config.memberSubnetId,
    ...floatingPlace(from, chosen, config),
  };
}

/**
 * Subnet and network from the nearest that names either: a Service's network is not overruled by cloud.conf's subnet.
 */
function vipPlace(
  from: Annotations,
  chosen: LoadBalancerPlacement | undefined,
  config: LoadBalancerConfig,
): Pick<Placed, "networkId" | "subnetId"> {
  const own = { subnetId: from.text("subnetId"), networkId: from.text("networkId") };
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
    floatingSubnetId: from.text("floatingSubnetId"),
    floatingSubnet: from.text("floatingSubnet"),
    floatingSubnetTags: from.text("floatingSubnetTags"),
  };
  // What one of them says is used as a whole: a name that the Service wants is not overruled by an id of cloud.conf's.
  const said = [chosen ?? {}, annotated, config].find(saysSubnet) ?? {};
  const byId = said.floatingSubnetId !== undefined;
  return {
    floatingNetworkId:
      (chosen?.floatingNetworkId ?? from.raw("floatingNetworkId") ?? config.floatingNetworkId) || undefined,
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
  if (!from.flag("enableHealthMonitor", config.createMonitor)) return undefined;
  return {
    delay: from.number("healthMonitorDelay", config.monitor.delay),
    timeout: from.number("healthMonitorTimeout", config.monitor.timeout),
    maxRetries: from.number("healthMonitorMaxRetries", config.monitor.maxRetries),
    maxRetriesDown: from.number("healthMonitorMaxRetriesDown", config.monitor.maxRetriesDown),
  };
}

/** CIDRs as the cloud will show them, each once; an invalid CIDR is kept as it is, so that the plan can report it. */
function sourceRangesOf(service: Service, from: Annotations): readonly string[] {
  const own = service.spec.loadBalancerSourceRanges ?? [];
  const asked = listOf(own.length > 0 ? own.join(",") : from.text("sourceRanges"));
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
