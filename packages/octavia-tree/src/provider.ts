import type { LbAlgorithm } from "@causeway/openstack";
import { isAtLeast, type OctaviaFacts } from "./octavia-facts.ts";

/** What a load balancer provider can do of what Services ask for. */
export interface ProviderLimits {
  readonly provider: string;
  /** The only algorithm it knows. */
  readonly algorithm: LbAlgorithm | undefined;
  readonly allowedCidrs: boolean;
  readonly timeouts: boolean;
  readonly persistence: boolean;
  readonly flavors: boolean;
  readonly availabilityZones: boolean;
  readonly tags: boolean;
  /** HTTP and TERMINATED_HTTPS listeners, PROXY pools. */
  readonly http: boolean;
  /** Protocols whose members it can watch. */
  readonly monitors: readonly string[];
  /** Protocols whose members can be watched by HTTP at another port than their own. */
  readonly healthPort: readonly string[];
  /** Can a monitor be part of the fully populated create? */
  readonly monitorInCreate: boolean;
  /** Addresses next to the first one. */
  readonly additionalVips: boolean;
  readonly memberCosts: MemberCosts;
}

/** Seconds that a change of a pool's members takes. */
export interface MemberCosts {
  /** For each member that a batch names and that remains as it is. */
  readonly kept: number;
  /** For each member that a batch brings or takes. */
  readonly changed: number;
  /** For a call that brings or takes one member. */
  readonly single: number;
  /** After each call: until the load balancer can be changed again. */
  readonly cycle: number;
}

type Abilities = Omit<ProviderLimits, "provider">;

const amphora: Abilities = {
  algorithm: undefined,
  allowedCidrs: true,
  timeouts: true,
  persistence: true,
  flavors: true,
  availabilityZones: true,
  tags: true,
  http: true,
  monitors: ["TCP", "UDP", "SCTP"],
  healthPort: ["TCP", "UDP", "SCTP"],
  monitorInCreate: true,
  additionalVips: true,
  memberCosts: { kept: 0, changed: 0, single: 0, cycle: 10 },
};

/**
 * The OVN provider as of Zed (3.0.0): it refuses algorithms, allowed_cidrs, HTTP, SCTP monitors and monitor ports with
 * 501, takes timeouts, connection limits and additional VIPs without honouring them, and a monitor inside a full create
 * remains PENDING_CREATE.
 */
const ovn: Abilities = {
  algorithm: "SOURCE_IP_PORT",
  allowedCidrs: false,
  timeouts: false,
  persistence: true,
  flavors: false,
  availabilityZones: false,
  tags: true,
  http: false,
  monitors: ["TCP", "UDP"],
  healthPort: [],
  monitorInCreate: false,
  additionalVips: false,
  // Measured: 8.5 s for a batch of 80 that changes one, 31 s for one that changes all.
  memberCosts: { kept: 0.1, changed: 0.39, single: 1, cycle: 0.5 },
};

/**
 * Providers that are not described here behave like amphora, Octavia's reference. No provider supports what the API is
 * too old for; an API that does not report its version counts as the newest. Versions:
 * https://docs.openstack.org/api-ref/load-balancer/v2/
 * @example
 * limitsOf("ovn").provider; // "ovn"
 */
export function limitsOf(provider: string | undefined, version?: string): ProviderLimits {
  const able = provider === "ovn" ? ovn : amphora;
  const since = (wanted: string) => version === undefined || isAtLeast(version, wanted);
  return {
    ...able,
    provider: provider ?? "amphora",
    timeouts: able.timeouts && since("2.1"),
    tags: able.tags && since("2.5"),
    flavors: able.flavors && since("2.6"),
    allowedCidrs: able.allowedCidrs && since("2.12"),
    availabilityZones: able.availabilityZones && since("2.14"),
    healthPort: able.healthPort.filter((protocol) => protocol === "TCP" || since("2.16")),
    additionalVips: able.additionalVips && since("2.26"),
  };
}

/**
 * The provider of a new load balancer that names none: amphora, as cloud-provider-openstack has it, where the cloud has
 * it; else OVN; else the first. It is always named in the create, for a provider's limits must be known before.
 */
export function defaultProvider({ providers }: OctaviaFacts): string | undefined {
  if (providers.length === 0) return undefined;
  return ["amphora", "octavia", "ovn"].find((name) => providers.includes(name)) ?? providers[0];
}

/** "octavia" and "amphorav2" are other names of amphora. */
export function isSameProvider(a: string, b: string): boolean {
  const plain = (name: string) => (name === "octavia" || name === "amphorav2" ? "amphora" : name);
  return plain(a) === plain(b);
}
