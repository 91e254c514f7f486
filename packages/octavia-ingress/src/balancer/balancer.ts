import type { DesiredTree, ObservedTree } from "@causeway/octavia-tree";
import type { FloatingIp, LoadBalancer } from "@causeway/openstack";
import type { Bundle } from "../certificates/pkcs12.ts";
import type { StoredCertificate } from "../certificates/store.ts";
import type { Owner } from "../names.ts";
import type { ObservedGroup } from "./security-group/observed.ts";
import type { BalancerStep } from "./steps.ts";

/** Which address clients use. */
export interface WantedAddress {
  readonly internal: boolean;
  /** Undefined: there is no network for floating IPs, and clients use the VIP. */
  readonly networkId: string | undefined;
  /** A floating IP that exists, by its address. */
  readonly address: string | undefined;
  /** Floating IPs of ours are not deleted. */
  readonly keep: boolean;
}

/** A load balancer that an owner wants. */
export interface WantedBalancer {
  readonly owner: Owner;
  readonly description: string;
  readonly place: {
    readonly subnetId: string;
    readonly provider: string | undefined;
    readonly flavorId: string | undefined;
    readonly vipAddress?: string | undefined;
  };
  readonly tree: DesiredTree;
  readonly address: WantedAddress;
  /** By their names: what its listeners' certificates consist of. */
  readonly certificates: ReadonlyMap<string, Bundle>;
}

/** What the cloud has of an owner. */
export interface ObservedBalancer {
  readonly owner: Owner;
  /** By the owner's name or tag, without those that are being deleted; the oldest first. */
  readonly found: readonly LoadBalancer[];
  readonly leaving: readonly LoadBalancer[];
  /** Only while the load balancer is ACTIVE, because nothing can be changed at other times. */
  readonly tree: ObservedTree | undefined;
  /** On the VIP's port. */
  readonly floatingIp: FloatingIp | undefined;
  /** With the wanted address. */
  readonly named: FloatingIp | undefined;
  /** Ours by their description. */
  readonly own: readonly FloatingIp[];
  /** In the key manager: empty where no certificate is needed. */
  readonly stored: readonly StoredCertificate[];
  /** Undefined: security groups are not managed, and none is left of a time when they were. */
  readonly group: ObservedGroup | undefined;
  readonly held: HeldBalancer;
  /** Of the VIP, or of the subnet where it is to be; undefined: it is not known, and nothing needs it. */
  readonly family?: IpFamily | undefined;
}

/** The version of IP. */
export type IpFamily = 4 | 6;

/** Until when (ms since the epoch) something must not be tried. */
export interface HeldBalancer {
  /** A create may be under way whose response was lost. */
  readonly uncertain: number | undefined;
  readonly busy: number | undefined;
  readonly broken: number | undefined;
  readonly braked: (step: BalancerStep) => number | undefined;
}

/** The certificates' references by name: the oldest of each name. */
export function refsOf(stored: readonly StoredCertificate[]): ReadonlyMap<string, string> {
  return new Map(stored.toReversed().map(({ name, ref }) => [name, ref]));
}
