import type { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import type * as OpenStack from "@causeway/openstack";
import type { Hold, IdentityState } from "../identity/state.ts";
import type { LeavingOwner } from "../openstackcluster/leaving.ts";

/** The part of a project that a machine can be concerned with, as the informers hold it. */
export interface MachineCloud {
  readonly projectId: string;
  readonly identity: string;
  readonly region: string;
  readonly servers: readonly OpenStack.Server[];
  readonly ports: readonly OpenStack.Port[];
  readonly networks: readonly OpenStack.Network[];
  readonly subnets: readonly OpenStack.Subnet[];
  readonly securityGroups: readonly OpenStack.SecurityGroup[];
  readonly images: readonly OpenStack.Image[];
  readonly flavors: readonly OpenStack.Flavor[];
  readonly serverGroups: readonly OpenStack.ServerGroup[];
  readonly volumes: readonly OpenStack.Volume[];
  /** Read only for a spec with a pool of floating IPs. */
  readonly floatingIps?: readonly OpenStack.FloatingIp[] | undefined;
  /** Aliases of Neutron's extensions; read only for a spec that needs one. */
  readonly extensions?: ReadonlySet<string> | undefined;
}

/** What an OpenStack Resource Controller's Image says; undefined where there is none. */
export interface ImageReference {
  readonly name: string;
  readonly id?: string | undefined;
  /** Why it has no id yet. */
  readonly message?: string | undefined;
}

/** The machine's IPAddressClaim, and the address that it was given. */
export interface AddressClaim {
  readonly address?: string | undefined;
}

/** Everything that the planner reads. The bootstrap data itself remains in its Secret. */
export interface Observed {
  readonly object: OpenStackMachine;
  readonly clusterName: string | undefined;
  readonly infrastructure: OpenStackCluster | undefined;
  /** The owning Machine's failure domain and bootstrap Secret; undefined while it has no owner. */
  readonly owner: MachineOwner | undefined;
  readonly paused: boolean;
  readonly identity: IdentityState<MachineCloud>;
  readonly hold?: Hold | undefined;
  /** What spec.image.imageRef leads to. */
  readonly image?: ImageReference | undefined;
  readonly claim?: AddressClaim | undefined;
  /**
   * Names of the pools of the API's load balancer that have a member for the machine; read while it or its Machine is
   * being deleted.
   */
  readonly endpointPools?: readonly string[] | undefined;
}

/** What a server is made for: an OpenStackMachine, or an OpenStackServer. */
export interface MachineOwner {
  readonly name: string;
  readonly zone?: string;
  /** Name of the Secret, once it exists and holds data. */
  readonly bootstrapSecret?: string;
  readonly leaving?: LeavingOwner | undefined;
}

/** A machine whose cloud and names are known: what the parts of the planner work on, for OpenStackServers, too. */
export interface MachineContext {
  readonly object: OpenStackMachine;
  readonly name: string;
  readonly crn: string;
  /** "namespace/cluster". */
  readonly ownerMark: string;
  readonly cloud: MachineCloud;
  readonly infrastructure: OpenStackCluster | undefined;
  readonly owner: MachineOwner | undefined;
  readonly image?: ImageReference | undefined;
  readonly claim?: AddressClaim | undefined;
  readonly hold?: Hold | undefined;
  /** Names of the pools of the API's load balancer that have a member for the machine. */
  readonly endpointPools?: readonly string[] | undefined;
  /** The finalizer of the object's kind. */
  readonly finalizer: string;
  /** False for a kind without spec.providerID. */
  readonly recordsProviderId: boolean;
}
