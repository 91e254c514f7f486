import type { IPAddress, IPAddressClaim, OpenStackFloatingIPPool } from "@causeway/api";
import type { FloatingIp, Network } from "@causeway/openstack";
import type { Hold, IdentityState } from "../identity/state.ts";

/** The part of a project that a pool is concerned with. */
export interface PoolCloud {
  readonly projectId: string;
  readonly networks: readonly Network[];
  readonly floatingIps: readonly FloatingIp[];
}

/** Everything that the planner reads. */
export interface Observed {
  readonly object: OpenStackFloatingIPPool;
  readonly paused: boolean;
  readonly identity: IdentityState<PoolCloud>;
  /** Claims and addresses that name the pool. */
  readonly claims: readonly IPAddressClaim[];
  readonly addresses: readonly IPAddress[];
  readonly hold?: Hold | undefined;
}
