import type { LbAlgorithm } from "@causeway/openstack";

/** What a load balancer provider can do of what Services ask for. */
export interface ProviderLimits {
  /** The only algorithm it knows. */
  readonly algorithm: LbAlgorithm | undefined;
  readonly allowedCidrs: boolean;
  readonly timeouts: boolean;
  readonly persistence: boolean;
  readonly flavors: boolean;
  readonly availabilityZones: boolean;
  /** Protocols whose members it can watch. */
  readonly monitors: readonly string[];
  /** May a member be watched at another port than its own? */
  readonly monitorPort: boolean;
  /** Can a monitor be part of the fully populated create? */
  readonly monitorInCreate: boolean;
}

const amphora: ProviderLimits = {
  algorithm: undefined,
  allowedCidrs: true,
  timeouts: true,
  persistence: true,
  flavors: true,
  availabilityZones: true,
  monitors: ["TCP", "UDP", "SCTP"],
  monitorPort: true,
  monitorInCreate: true,
};

/**
 * The OVN provider as of Zed (3.0.0): it refuses algorithms, allowed_cidrs and monitor ports with 501, takes timeouts and
 * connection limits without honouring them, and a monitor inside a full create stays PENDING_CREATE.
 */
const ovn: ProviderLimits = {
  algorithm: "SOURCE_IP_PORT",
  allowedCidrs: false,
  timeouts: false,
  persistence: true,
  flavors: false,
  availabilityZones: false,
  monitors: ["TCP", "UDP"],
  monitorPort: false,
  monitorInCreate: false,
};

/** Providers that nobody described behave like amphora, Octavia's reference. */
export function limitsOf(provider: string | undefined): ProviderLimits {
  return provider === "ovn" ? ovn : amphora;
}
