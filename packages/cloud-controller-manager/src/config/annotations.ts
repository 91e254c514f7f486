/** The beginning of our annotations. */
export const prefix = "loadbalancer.openstack.org/";

/**
 * One annotation of a Service. The table below is the source of what is parsed, of the warnings and of
 * docs/reference/annotations.md. Keys, values and defaults are cloud-provider-openstack's, but for those that it does
 * not have (`added`).
 */
export interface ServiceAnnotation {
  readonly key: string;
  /** flag: "true" or "false"; number: a whole number; id: of an object in the cloud. */
  readonly form: "text" | "id" | "flag" | "number" | "list" | "choice";
  readonly choices?: readonly string[];
  /** The key in cloud.conf's [LoadBalancer] that holds where the annotation is missing. */
  readonly setting?: string;
  /** What holds where neither is there. */
  readonly default?: number | boolean;
  /** The controller writes it, a person does not. */
  readonly written?: boolean;
  /** Upstream has none of this key. */
  readonly added?: boolean;
  readonly meaning: string;
}

/** Every annotation, by the name that the code uses. */
export const annotations = {
  loadBalancerId: {
    key: `${prefix}load-balancer-id`,
    form: "id",
    meaning: "The load balancer to use, which the Service then shares. The controller writes the one it created.",
  },
  loadBalancerAddress: {
    key: `${prefix}load-balancer-address`,
    form: "text",
    written: true,
    meaning: "The address that was published, by which a renamed cluster recognises its load balancer.",
  },
  internal: {
    key: "service.beta.kubernetes.io/openstack-internal-load-balancer",
    form: "flag",
    setting: "internal-lb",
    default: false,
    meaning: "No floating IP: the address is the VIP in the cluster's network.",
  },
  sourceRanges: {
    key: "service.beta.kubernetes.io/load-balancer-source-ranges",
    form: "list",
    meaning: "CIDRs that may connect; spec.loadBalancerSourceRanges comes before it.",
  },
  class: {
    key: `${prefix}class`,
    form: "text",
    meaning: "The [LoadBalancerClass] of cloud.conf from which networks and subnets are read.",
  },
  networkId: {
    key: `${prefix}network-id`,
    form: "id",
    setting: "network-id",
    meaning: "The network of the VIP.",
  },
  subnetId: {
    key: `${prefix}subnet-id`,
    form: "id",
    setting: "subnet-id",
    meaning: "The subnet of the VIP.",
  },
  memberSubnetId: {
    key: `${prefix}member-subnet-id`,
    form: "id",
    setting: "member-subnet-id",
    meaning: "The subnet in which the load balancer reaches the nodes.",
  },
  portId: {
    key: `${prefix}port-id`,
    form: "id",
    meaning: "An existing port to be the VIP. Only read when the load balancer is created.",
  },
  floatingNetworkId: {
    key: `${prefix}floating-network-id`,
    form: "id",
    setting: "floating-network-id",
    meaning: "The external network of the floating IP. Empty: the first external network with an IPv4 subnet.",
  },
  floatingSubnetId: {
    key: `${prefix}floating-subnet-id`,
    form: "id",
    setting: "floating-subnet-id",
    meaning: "The external subnet of the floating IP.",
  },
  floatingSubnet: {
    key: `${prefix}floating-subnet`,
    form: "text",
    setting: "floating-subnet",
    meaning:
      'Name of external subnets: a pattern with *, "~" before a regular expression, "!" before what is not meant.',
  },
  floatingSubnetTags: {
    key: `${prefix}floating-subnet-tags`,
    form: "list",
    setting: "floating-subnet-tags",
    meaning: 'Tags of external subnets: any of them, all with "&" before, none with "!".',
  },
  keepFloatingIp: {
    key: `${prefix}keep-floatingip`,
    form: "flag",
    default: false,
    meaning: "The floating IP remains in the project when the Service is deleted.",
  },
  hostname: {
    key: `${prefix}hostname`,
    form: "text",
    meaning: "A DNS name that is published in the status in place of the address.",
  },
  tlsContainerRef: {
    key: `${prefix}default-tls-container-ref`,
    form: "text",
    setting: "default-tls-container-ref",
    meaning: "Barbican's reference to a certificate: TLS ends at the load balancer.",
  },
  method: {
    key: `${prefix}lb-method`,
    form: "choice",
    choices: ["ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"],
    setting: "lb-method",
    meaning: "How connections are shared among members.",
  },
  proxyProtocol: {
    key: `${prefix}proxy-protocol`,
    form: "choice",
    choices: ["true", "v1", "v2", "false"],
    meaning: "Members get the PROXY protocol, version 1 for true and v1.",
  },
  xForwardedFor: {
    key: `${prefix}x-forwarded-for`,
    form: "flag",
    default: false,
    meaning: "The listeners speak HTTP and add X-Forwarded-For.",
  },
  connectionLimit: {
    key: `${prefix}connection-limit`,
    form: "number",
    default: -1,
    meaning: "Connections that a listener takes at once; -1: any number.",
  },
  timeoutClientData: {
    key: `${prefix}timeout-client-data`,
    form: "number",
    default: 50_000,
    meaning: "Milliseconds without data from the client.",
  },
  timeoutMemberConnect: {
    key: `${prefix}timeout-member-connect`,
    form: "number",
    default: 5_000,
    meaning: "Milliseconds until a member has accepted a connection.",
  },
  timeoutMemberData: {
    key: `${prefix}timeout-member-data`,
    form: "number",
    default: 50_000,
    meaning: "Milliseconds without data from the member.",
  },
  timeoutTcpInspect: {
    key: `${prefix}timeout-tcp-inspect`,
    form: "number",
    default: 0,
    meaning: "Milliseconds to wait for more packets to inspect.",
  },
  flavorId: {
    key: `${prefix}flavor-id`,
    form: "id",
    setting: "flavor-id",
    meaning: "Octavia's flavor. Only read when the load balancer is created.",
  },
  availabilityZone: {
    key: `${prefix}availability-zone`,
    form: "text",
    setting: "availability-zone",
    meaning: "Octavia's availability zone. Only read when the load balancer is created.",
  },
  enableHealthMonitor: {
    key: `${prefix}enable-health-monitor`,
    form: "flag",
    setting: "create-monitor",
    default: false,
    meaning: "Members are monitored; with externalTrafficPolicy Local at the nodes' health check port.",
  },
  healthMonitorDelay: {
    key: `${prefix}health-monitor-delay`,
    form: "number",
    setting: "monitor-delay",
    default: 5,
    meaning: "Seconds between two probes.",
  },
  healthMonitorTimeout: {
    key: `${prefix}health-monitor-timeout`,
    form: "number",
    setting: "monitor-timeout",
    default: 3,
    meaning: "Seconds until a probe has failed.",
  },
  healthMonitorMaxRetries: {
    key: `${prefix}health-monitor-max-retries`,
    form: "number",
    setting: "monitor-max-retries",
    default: 1,
    meaning: "Probes in a row after which a member is healthy.",
  },
  healthMonitorMaxRetriesDown: {
    key: `${prefix}health-monitor-max-retries-down`,
    form: "number",
    setting: "monitor-max-retries-down",
    default: 3,
    meaning: "Failed probes in a row after which a member is not healthy.",
  },
  nodeSelector: {
    key: `${prefix}node-selector`,
    form: "list",
    setting: "node-selector",
    meaning: "Labels of the nodes that are members: key=value, or key alone.",
  },
  provider: {
    key: `${prefix}provider`,
    form: "text",
    setting: "lb-provider",
    added: true,
    meaning: "Octavia's provider. Changed on a Service with a floating IP, a new load balancer takes over behind it.",
  },
  tags: {
    key: `${prefix}tags`,
    form: "list",
    added: true,
    meaning:
      "Tags of load balancer and listeners in addition to ours. Those that leave the list remain on the objects.",
  },
  xForwardedPort: {
    key: `${prefix}x-forwarded-port`,
    form: "flag",
    default: false,
    added: true,
    meaning: "The HTTP listener adds X-Forwarded-Port.",
  },
  xForwardedProto: {
    key: `${prefix}x-forwarded-proto`,
    form: "flag",
    default: false,
    added: true,
    meaning: "The HTTP listener adds X-Forwarded-Proto.",
  },
} as const satisfies Readonly<Record<string, ServiceAnnotation>>;

/** The name by which the code knows an annotation. */
export type AnnotationName = keyof typeof annotations;
/** Those of a form, by the name that the code uses. */
export type AnnotationOf<F extends ServiceAnnotation["form"]> = {
  [N in AnnotationName]: (typeof annotations)[N]["form"] extends F ? N : never;
}[AnnotationName];

const table: readonly ServiceAnnotation[] = Object.values(annotations);

/** The keys alone. */
export const annotation = Object.fromEntries(
  Object.entries(annotations).map(([name, { key }]) => [name, key]),
) as Readonly<Record<AnnotationName, string>>;

/** Present, and neither "true" nor "false" (`flag`), or no whole number (`number`): the default is used. */
export function isMalformed({ form, choices = [] }: ServiceAnnotation, value: string): boolean {
  if (value === "") return false;
  if (form === "flag") return value !== "true" && value !== "false";
  if (form === "number") return wholeNumber(value) === undefined;
  return form === "choice" && !choices.includes(value);
}

/** As Go's strconv.Atoi reads it; undefined for what that refuses. */
export function wholeNumber(value: string): number | undefined {
  if (!/^[+-]?\d{1,400}$/.test(value)) return undefined;
  const whole = BigInt(value.replace("+", ""));
  return BigInt.asIntN(64, whole) === whole ? Number(whole) : undefined;
}

/** The annotation of that key, if there is one. */
export function knownAnnotation(key: string): ServiceAnnotation | undefined {
  return table.find((each) => each.key === key);
}

/** All keys that a person may have meant. */
export const annotationKeys: readonly string[] = table.map(({ key }) => key);
