import type { Clock } from "@causeway/foundation";
import type { Brake, Informer, Node, PlannedEvent, Service } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, FloatingIp, Listener, LoadBalancer, Network, Subnet } from "@causeway/openstack";
import type {
  Backoffs,
  ObservedPool,
  OctaviaFacts,
  OctaviaReader,
  PoolDetails,
  TreeFreshness,
} from "@causeway/octavia-tree";
import type { CloudControllerConfig } from "../config/config.ts";
import type { RateLimitedRefresh } from "../rate-limited-refresh.ts";
import type { Certificates } from "./memory/certificates.ts";
import type { EarlierCreates } from "./memory/earlier-creates.ts";
import type { Held } from "./held.ts";
import type { NodeBursts } from "./memory/node-bursts.ts";
import type { ServingNodes } from "./parameters/new-members.ts";
import type { ServingNodesMemory } from "./memory/serving-nodes.ts";
import type { Parameters } from "./parameters/parameters.ts";
import type { PendingTimes } from "./memory/pending-times.ts";

/** What the Service asks for, and who asks: from Kubernetes and from cloud.conf. */
export interface ServiceObserved {
  readonly service: Service;
  readonly clusterName: string;
  readonly config: CloudControllerConfig;
  readonly parameters: Parameters;
  readonly lbName: string;
  /** The load balancer's name from before the cluster was renamed. */
  readonly formerName: string | undefined;
  /** Nodes that may be members. */
  readonly nodes: readonly Node[];
}

/** The load balancers that the cloud has, their parts, and what Octavia can do. */
export interface TreeObserved {
  /** Load balancers that may be the Service's; more than one is an error. Not those on their way out. */
  readonly loadBalancers: readonly LoadBalancer[];
  /** Those that have the Service's name, and by their tags another owner. */
  readonly anothers: readonly LoadBalancer[];
  /** Those that another is to replace, while they may be changed. */
  readonly retiring: readonly LoadBalancer[];
  /** Those whose deletion is under way. */
  readonly leaving: readonly LoadBalancer[];
  readonly listeners: readonly Listener[];
  /** Read only while the load balancer is ACTIVE, since nothing can be changed at other times; with `whole` always. */
  readonly pools: readonly ObservedPool[];
  /** Where the first node's address is: VIP and members are there unless configured otherwise. */
  readonly nodeSubnet: Subnet | undefined;
  /** False when the cloud has no Octavia. */
  readonly octavia: boolean;
  readonly facts: OctaviaFacts;
  /** Why TLS cannot end at the load balancer as it is requested. */
  readonly tlsProblem: string | undefined;
}

/** The floating IPs that the cloud has, and where another one can come from. */
export interface AddressObserved {
  /** On the VIP's port. */
  readonly floatingIp: FloatingIp | undefined;
  /** On the VIP of the first load balancer that another is to replace. */
  readonly retiringFloatingIp: FloatingIp | undefined;
  /** Ours by their description, wherever they are attached. */
  readonly ownFloatingIps: readonly FloatingIp[];
  /** The one with the wanted address, if the Service names one. */
  readonly wantedFloatingIp: FloatingIp | undefined;
  readonly externalNetwork: Network | undefined;
  /** Subnets for the floating IP, to be tried in this order; undefined: Neutron chooses. */
  readonly floatingSubnets: readonly Subnet[] | undefined;
  /** The subnet that was named by its id, where it is visible. */
  readonly namedFloatingSubnet: Subnet | undefined;
}

/** What this process remembers of earlier changes, and what it found out about whose a load balancer is. */
export interface MemoryObserved {
  readonly held: Held;
  /** A load balancer of the Service that its tags do not say to be so. */
  readonly adoption?: Adoption | undefined;
  /** What a person is to do about a load balancer that serves the Service and that nothing proves to be its own. */
  readonly unproved?: string | undefined;
  /** Which new Nodes serve. */
  readonly serving?: ServingNodes;
}

/** All that a plan reads. A function names the parts that it reads. */
export interface Observed extends ServiceObserved, TreeObserved, AddressObserved, MemoryObserved {
  /** What is to be, or is, behind the address of the other family. */
  readonly second: Observed | undefined;
}

/** The informers that a Service is gathered from, and what this process remembers. */
export interface GatherFrom {
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly clusterName: string;
  readonly config: CloudControllerConfig;
  readonly details: PoolDetails;
  readonly freshness: TreeFreshness;
  readonly backoffs: Backoffs;
  readonly octavia: OctaviaReader;
  readonly certificates: Certificates;
  readonly bursts: NodeBursts;
  readonly pending: PendingTimes;
  readonly earlier: EarlierCreates;
  readonly missed: RateLimitedRefresh;
  readonly clock: Clock;
  readonly brake: Brake;
  /** Only where new Nodes are waited for. */
  readonly serving: ServingNodesMemory | undefined;
  /** Pools are read whatever their load balancer's status. */
  readonly whole?: boolean;
}

/**
 * A load balancer of the Service that its tags do not say to be so: its tags are rewritten before anything else is
 * changed.
 */
export interface Adoption {
  readonly lb: LoadBalancer;
  readonly tags: readonly string[];
  readonly event: PlannedEvent;
}
