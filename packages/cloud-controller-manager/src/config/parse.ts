import {
  iniBoolean,
  iniSection,
  iniText,
  iniTexts,
  parseCidr,
  parseIni,
  type IniSection,
  InputError,
} from "@causeway/foundation";
import { annotations } from "./annotations.ts";
import {
  defaultCloudConfig,
  type CloudControllerConfig,
  type LoadBalancerConfig,
  type LoadBalancerPlacement,
  type MetadataConfig,
  type NetworkingConfig,
} from "./config.ts";
import { parseDuration } from "./duration.ts";
import { unknownKey, unknownSection } from "./known-keys.ts";

/** A cloud.conf, and warnings about what was not understood. */
export interface ParsedControllerConfig {
  readonly config: CloudControllerConfig;
  /** For the log: what was not understood and is ignored, as cloud-provider-openstack ignores it. */
  readonly warnings: readonly string[];
}

interface ParseState {
  readonly warnings: string[];
}

const defaults = defaultCloudConfig();

/**
 * Everything of a cloud.conf but [Global]; OS_CCM_REGIONAL comes from the environment. Throws INI_INVALID, and
 * CLOUD_CONF_INVALID for a value that cannot be what it is meant to be. No message has a value of [Global].
 * @example
 * const { config, warnings } = parseControllerConfig("[LoadBalancer]\nlb-provider = ovn");
 * config.loadBalancer.provider; // "ovn"
 */
export function parseControllerConfig(
  text: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ParsedControllerConfig {
  const sections = parseIni(text, "cloud.conf");
  const reading: ParseState = { warnings: sections.flatMap(unknownNames) };
  const routerId = given(iniSection(sections, "Route"), "router-id");
  const config: CloudControllerConfig = {
    networking: networking(iniSection(sections, "Networking"), reading),
    loadBalancer: loadBalancer(sections, reading),
    metadata: metadata(iniSection(sections, "Metadata")),
    ...(routerId === undefined ? {} : { routerId }),
    regional: env["OS_CCM_REGIONAL"] === "true",
  };
  return { config, warnings: reading.warnings };
}

function unknownNames(section: IniSection): string[] {
  const whole = unknownSection(section.name);
  if (whole !== undefined) return [whole];
  return [...section.values.keys()].flatMap((key) => unknownKey(section.name, key) ?? []);
}

function networking(section: IniSection | undefined, { warnings }: ParseState): NetworkingConfig {
  const order = list(given(section, "address-sort-order"));
  const bad = order.filter((cidr) => parseCidr(cidr) === undefined);
  if (bad.length > 0) warnings.push(`address-sort-order has values that are not CIDRs: ${bad.join(", ")}`);
  return {
    ipv6Disabled: iniBoolean(section, "ipv6-support-disabled") ?? false,
    publicNetworks: iniTexts(section, "public-network-name"),
    internalNetworks: iniTexts(section, "internal-network-name"),
    addressSortOrder: order.filter((cidr) => !bad.includes(cidr)),
  };
}

const agents = ["configDrive", "metadataService"] as const;

function metadata(section: IniSection | undefined): MetadataConfig {
  const text = given(section, "search-order");
  const order = text === undefined ? [...agents] : list(text);
  const known = order.flatMap((word) => agents.find((agent) => agent === word) ?? []);
  if (known.length !== order.length || order.length > agents.length || order.length === 0)
    throw invalid("search-order", `at most two of ${agents.join(", ")}`);
  return { searchOrder: known, requestTimeout: duration(section, "request-timeout") ?? 60_000 };
}

function loadBalancer(sections: readonly IniSection[], reading: ParseState): LoadBalancerConfig {
  const section = iniSection(sections, "LoadBalancer");
  const version = given(section, "lb-version");
  if (version !== undefined && version !== "v2") throw invalid("lb-version", "v2, or nothing");
  const own = defaults.loadBalancer;
  const flag = (key: string, otherwise: boolean) => iniBoolean(section, key) ?? otherwise;
  const count = (key: string, otherwise: number) => integer(section, key) ?? otherwise;
  const seconds = (key: string, otherwise: number) => {
    const time = duration(section, key);
    return time === undefined ? otherwise : Math.trunc(time / 1_000);
  };
  return {
    ...placement(section),
    ...chosen(section, reading),
    enabled: flag("enabled", own.enabled),
    createMonitor: flag("create-monitor", own.createMonitor),
    monitor: {
      delay: seconds("monitor-delay", own.monitor.delay),
      timeout: seconds("monitor-timeout", own.monitor.timeout),
      maxRetries: count("monitor-max-retries", own.monitor.maxRetries),
      maxRetriesDown: count("monitor-max-retries-down", own.monitor.maxRetriesDown),
    },
    manageSecurityGroups: flag("manage-security-groups", own.manageSecurityGroups),
    internal: flag("internal-lb", own.internal),
    nodeSelector: given(section, "node-selector") ?? own.nodeSelector,
    cascadeDelete: flag("cascade-delete", own.cascadeDelete),
    enableIngressHostname: flag("enable-ingress-hostname", own.enableIngressHostname),
    ingressHostnameSuffix: given(section, "ingress-hostname-suffix") ?? own.ingressHostnameSuffix,
    maxSharedLoadBalancers: count("max-shared-lb", own.maxSharedLoadBalancers),
    containerStore: given(section, "container-store") ?? own.containerStore,
    defaultTlsContainerRef: given(section, "default-tls-container-ref") ?? own.defaultTlsContainerRef,
    serialApiCalls: flag("provider-requires-serial-api-calls", own.serialApiCalls),
    followNodes: flag("follow-nodes", own.followNodes),
    classes: classes(sections, reading),
  };
}

const methods = annotations.method.choices;
const providers: readonly string[] = ["amphora", "amphorav2", "octavia", "ovn", "f5"];

function chosen(
  section: IniSection | undefined,
  { warnings }: ParseState,
): Pick<LoadBalancerConfig, "method" | "provider" | "flavorId" | "availabilityZone"> {
  const asked = given(section, "lb-method");
  const method = methods.find((known) => known === asked);
  if (asked !== undefined && method === undefined)
    warnings.push(`lb-method "${asked}" is none of ${methods.join(", ")}; the provider's own is used`);
  const provider = given(section, "lb-provider");
  if (provider !== undefined && !providers.includes(provider))
    warnings.push(`lb-provider "${provider}" is not known here; it is treated like amphora`);
  const flavorId = given(section, "flavor-id");
  const availabilityZone = given(section, "availability-zone");
  return {
    ...(method === undefined ? {} : { method }),
    ...(provider === undefined ? {} : { provider }),
    ...(flavorId === undefined ? {} : { flavorId }),
    ...(availabilityZone === undefined ? {} : { availabilityZone }),
  };
}

function classes(sections: readonly IniSection[], { warnings }: ParseState): Map<string, LoadBalancerPlacement> {
  const found = new Map<string, LoadBalancerPlacement>();
  for (const section of sections.filter((s) => s.name === "loadbalancerclass")) {
    if (section.subsection === undefined) warnings.push('[LoadBalancerClass] needs a name: [LoadBalancerClass "NAME"]');
    else found.set(section.subsection, placement(section));
  }
  return found;
}

const placementKeys = {
  subnetId: "subnet-id",
  memberSubnetId: "member-subnet-id",
  networkId: "network-id",
  floatingNetworkId: "floating-network-id",
  floatingSubnetId: "floating-subnet-id",
  floatingSubnet: "floating-subnet",
  floatingSubnetTags: "floating-subnet-tags",
} as const;

function placement(section: IniSection | undefined): LoadBalancerPlacement {
  const entries = Object.entries(placementKeys).map(([field, key]) => [field, given(section, key)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** A value that is not empty. */
function given(section: IniSection | undefined, key: string): string | undefined {
  return iniText(section, key) || undefined;
}

function list(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function integer(section: IniSection | undefined, key: string): number | undefined {
  const text = given(section, key);
  if (text === undefined) return undefined;
  if (!/^-?\d+$/.test(text)) throw invalid(key, "a whole number");
  return Number(text);
}

/** Milliseconds. */
function duration(section: IniSection | undefined, key: string): number | undefined {
  const text = given(section, key);
  if (text === undefined) return undefined;
  const time = parseDuration(text);
  if (time === undefined) throw invalid(key, 'a duration with its unit, such as "5s" or "1m30s"');
  return time;
}

function invalid(key: string, expected: string): InputError {
  return new InputError("CLOUD_CONF_INVALID", `${key} in cloud.conf is not ${expected}.`, {
    hint: `Write ${expected} there.`,
    details: { key },
  });
}
