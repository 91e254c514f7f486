import type { ServiceName } from "./service-name.ts";
import type { Collection, CallOptions, ReadOnlyCollection } from "./collection.ts";
import type * as N from "./network.ts";
import type * as C from "./compute.ts";
import type { BlockStorageService } from "./block-storage.ts";
import type { ContainerInfrastructureService } from "./container-infrastructure.ts";
import type { DnsService } from "./dns.ts";
import type { IdentityService } from "./identity.ts";
import type { ImageService } from "./image.ts";
import type { KeyManagerService } from "./key-manager.ts";
import type { ObjectStoreService } from "./object-store.ts";
import type { OrchestrationService } from "./orchestration.ts";
import type { PlacementService } from "./placement.ts";
import type { SharedFileSystemService } from "./shared-file-system.ts";
import type { ComputeExtras } from "./compute-extras.ts";
import type { LoadBalancingExtras } from "./load-balancing-extras.ts";
import type { NetworkExtensions } from "./network-extensions.ts";
import type * as L from "./load-balancing.ts";

/** Neutron: https://docs.openstack.org/api-ref/network/v2/ . */
export interface NetworkService extends NetworkExtensions {
  readonly networks: Collection<N.Network, N.NetworkCreate>;
  readonly subnets: Collection<
    N.Subnet,
    N.SubnetCreate,
    Partial<Omit<N.SubnetCreate, "network_id" | "ip_version" | "cidr">>
  >;
  readonly routers: Collection<N.Router, N.RouterCreate>;
  readonly ports: Collection<N.Port, N.PortCreate>;
  readonly securityGroups: Collection<N.SecurityGroup, N.SecurityGroupCreate>;
  readonly securityGroupRules: Collection<N.SecurityGroupRule, N.SecurityGroupRuleCreate, never>;
  readonly floatingIps: Collection<
    N.FloatingIp,
    N.FloatingIpCreate,
    { port_id?: string | null; fixed_ip_address?: string | null; description?: string }
  >;
  /** Many rules or ports in one request; all or none. */
  createSecurityGroupRules(
    rules: readonly N.SecurityGroupRuleCreate[],
    options?: CallOptions,
  ): Promise<N.SecurityGroupRule[]>;
  createPorts(ports: readonly N.PortCreate[], options?: CallOptions): Promise<N.Port[]>;
  /** A repeated add gets 400 from the API; here it is success if the interface exists. */
  addRouterInterface(
    routerId: string,
    body: { subnet_id: string } | { port_id: string },
    options?: CallOptions,
  ): Promise<void>;
  /** 404 is success. */
  removeRouterInterface(
    routerId: string,
    body: { subnet_id: string } | { port_id: string },
    options?: CallOptions,
  ): Promise<void>;
  setTags(kind: N.Taggable, id: string, tags: readonly string[], options?: CallOptions): Promise<void>;
  /** Aliases of the extensions, read once. */
  extensions(options?: CallOptions): Promise<ReadonlySet<string>>;
}

/** Nova: https://docs.openstack.org/api-ref/compute/ . */
export interface ComputeService extends ComputeExtras {
  readonly servers: Collection<C.Server, C.ServerCreate, C.ServerUpdate>;
  readonly serverGroups: Collection<C.ServerGroup, C.ServerGroupCreate, never>;
  availabilityZones(options?: CallOptions): Promise<C.AvailabilityZone[]>;
  /** Absolute limits and what is used of them (GET /limits): maxTotalInstances, totalInstancesUsed, … */
  limits(options?: CallOptions): Promise<Record<string, number>>;
}

/** Octavia: https://docs.openstack.org/api-ref/load-balancer/v2/ . */
export interface LoadBalancingService extends LoadBalancingExtras {
  readonly loadBalancers: Collection<L.LoadBalancer, L.LoadBalancerCreate, L.LoadBalancerUpdate>;
  deleteLoadBalancer(id: string, options?: CallOptions & { cascade?: boolean }): Promise<void>;
  /** The whole tree of a load balancer with statuses (GET …/status). */
  statusTree(id: string, options?: CallOptions): Promise<unknown>;
  readonly listeners: Collection<L.Listener, L.ListenerCreate, L.ListenerUpdate>;
  readonly pools: Collection<L.Pool, L.PoolCreate, L.PoolUpdate>;
  members(poolId: string): Collection<L.Member, L.MemberCreate, L.MemberUpdate>;
  /** Makes the pool's members exactly these (PUT …/members), or adds to them (`additive`). */
  replaceMembers(
    poolId: string,
    members: readonly L.MemberCreate[],
    options?: CallOptions & { additive?: boolean },
  ): Promise<void>;
  readonly healthMonitors: Collection<L.HealthMonitor, L.HealthMonitorCreate, L.HealthMonitorUpdate>;
  readonly providers: Pick<ReadOnlyCollection<L.Provider>, "list" | "all">;
}

/** How many calls a cloud was sent, by "METHOD service /route/{id}". */
export interface CallStats {
  readonly total: number;
  readonly writes: number;
  readonly byRoute: Readonly<Record<string, number>>;
}

/** What a service's version document says. */
export interface ServiceDescription {
  /** The URL of its versions. */
  readonly url: string;
  /** As it lists them; microversions where it has them. */
  readonly versions: readonly {
    readonly id: string;
    readonly status: string;
    readonly minimum?: string;
    readonly maximum?: string;
  }[];
  /** How far (ms) its clock is ahead of ours at least, to the second; undefined if it sends no date. */
  readonly skew: number | undefined;
}

/** A service wants to be left alone, by Retry-After. */
export interface ServicePause {
  /** Ms since the epoch, as `since`. */
  readonly until: number;
  /** When the first of the pauses began that followed one another without a call that succeeded. */
  readonly since: number;
  /** It does not respond (503), in place of limiting the rate of requests (429). */
  readonly isUnavailable: boolean;
}

/** One project of one region, with one budget for all its calls. Made by `connectCloud`. */
export interface Cloud {
  /** The entry's name, for people. */
  readonly name: string;
  readonly region: string;
  /** Authenticates if need be. */
  projectId(options?: CallOptions): Promise<string>;
  readonly network: NetworkService;
  readonly compute: ComputeService;
  readonly loadBalancing: LoadBalancingService;
  readonly image: ImageService;
  readonly blockStorage: BlockStorageService;
  readonly identity: IdentityService;
  readonly sharedFileSystem: SharedFileSystemService;
  readonly keyManager: KeyManagerService;
  readonly placement: PlacementService;
  readonly objectStore: ObjectStoreService;
  readonly orchestration: OrchestrationService;
  readonly containerInfrastructure: ContainerInfrastructureService;
  readonly dns: DnsService;
  /** True if the catalog has an endpoint for the service type ("load-balancer", "volumev3", …). */
  has(serviceType: string, options?: CallOptions): Promise<boolean>;
  /** Asks a service for its versions; undefined where the catalog has no such service. */
  describe(service: ServiceName, options?: CallOptions): Promise<ServiceDescription | undefined>;
  /**
   * Until when (ms since the epoch) one of these services wants to be left alone, by Retry-After; undefined: none does.
   * Calls before that wait.
   */
  pausedUntil(...services: readonly ServiceName[]): number | undefined;
  /** The longest of the pauses of these services now, and why they want it. */
  pause(...services: readonly ServiceName[]): ServicePause | undefined;
  stats(): CallStats;
  close(): Promise<void>;
}
