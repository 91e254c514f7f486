import type { ConfigMap } from "@causeway/kubernetes";
import type { ListenerTimeouts } from "@causeway/octavia-tree";
import { formatCidr, parseCidr } from "@causeway/foundation";
import type { IpFamily } from "../balancer/balancer.ts";
import { MEMBER_PLACES, type BalancerDefaults } from "../config/config.ts";
import { annotation } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";

/** What an Ingress's annotations say. */
export interface IngressParameters {
  readonly internal: boolean;
  readonly keepFloatingIp: boolean;
  readonly floatingIp: string | undefined;
  readonly sourceRanges: readonly string[];
  readonly timeouts: ListenerTimeouts;
  /** Why they cannot be honoured. */
  readonly problems: readonly string[];
}

/** Go's strconv.ParseBool. */
const BOOLEANS: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...["1", "t", "T", "true", "TRUE", "True"].map((word) => [word, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((word) => [word, false] as const),
]);

/** What annotations say; `internal` is the default of the class, `family` that of the VIP where it is known. */
export function parametersOf(
  { metadata }: Pick<Ingress, "metadata">,
  internal = true,
  family?: IpFamily,
): IngressParameters {
  const given = metadata.annotations ?? {};
  const problems: string[] = [];
  const boolean = (key: string, otherwise: boolean): boolean => {
    const word = given[key];
    if (word === undefined) return otherwise;
    const value = BOOLEANS[word];
    if (value === undefined) problems.push(`annotation ${key} is not true or false: ${word}`);
    return value ?? otherwise;
  };
  const ranges = (given[annotation.sourceRanges] ?? "")
    .split(",")
    .map((range) => range.trim())
    .filter((range) => range !== "");
  const sourceRanges = ranges.flatMap((range) => {
    const cidr = parseCidr(range);
    if (!cidr) problems.push(`annotation ${annotation.sourceRanges}: ${range} is not a CIDR`);
    else if (cidr.version !== (family ?? cidr.version))
      problems.push(`annotation ${annotation.sourceRanges}: ${range} is not of IPv${family}, as the VIP is`);
    return cidr ? [formatCidr(cidr)] : [];
  });
  const milliseconds = (key: string): number | undefined => {
    const value = integer(given[key]);
    if (value === undefined || (value >= 0 && value <= LONGEST)) return value;
    problems.push(`annotation ${key} is not from 0 to ${LONGEST} ms: ${value}`);
    return undefined;
  };
  const address = given[annotation.floatingIp] ?? "";
  return {
    internal: boolean(annotation.internal, internal),
    keepFloatingIp: boolean(annotation.keepFloatingIp, false),
    floatingIp: address === "" ? undefined : address,
    sourceRanges,
    timeouts: {
      clientData: milliseconds(annotation.timeoutClientData),
      memberData: milliseconds(annotation.timeoutMemberData),
      memberConnect: milliseconds(annotation.timeoutMemberConnect),
      tcpInspect: milliseconds(annotation.timeoutTcpInspect),
    },
    problems,
  };
}

/** Octavia's limit of a listener's timeouts (ms). */
const LONGEST = 86_400_000;

/** As upstream: what is no integer is ignored. */
function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** What an IngressClass or a GatewayClass says by the ConfigMap that its parameters name. */
export interface ClassParameters {
  /** All Ingresses of the class are on one load balancer. */
  readonly shared: boolean;
  readonly internal: boolean | undefined;
  readonly balancer: BalancerDefaults;
  readonly problem: string | undefined;
}

const KEYS = ["load-balancer", "internal", "provider", "subnet-id", "floating-network-id", "flavor-id", "members"];

/** `map` undefined: the class has no parameters. */
export function classParameters(defaults: BalancerDefaults, map: ConfigMap | undefined): ClassParameters {
  const data = map?.data ?? {};
  const { "load-balancer": kind = "own", internal } = data;
  const members = MEMBER_PLACES.find((place) => place === data["members"]);
  const unknown = Object.keys(data).filter((key) => !KEYS.includes(key));
  const problem =
    unknown.length > 0
      ? `unknown keys ${unknown.join(", ")}`
      : kind !== "own" && kind !== "shared"
        ? `load-balancer is ${kind}; it may be own or shared`
        : internal !== undefined && BOOLEANS[internal] === undefined
          ? `internal is ${internal}; it may be true or false`
          : data["members"] !== undefined && members === undefined
            ? `members is ${data["members"]}; it may be ${MEMBER_PLACES.join(" or ")}`
            : undefined;
  return {
    shared: kind === "shared",
    internal: internal === undefined ? undefined : BOOLEANS[internal],
    balancer: {
      ...defaults,
      provider: data["provider"] ?? defaults.provider,
      subnetId: data["subnet-id"] ?? defaults.subnetId,
      floatingNetworkId: data["floating-network-id"] ?? defaults.floatingNetworkId,
      flavorId: data["flavor-id"] ?? defaults.flavorId,
      ...(members === undefined ? {} : { members }),
    },
    problem,
  };
}
