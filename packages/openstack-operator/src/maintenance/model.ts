/**
 * What the maintenance of compute nodes is planned from: nodes as Kubernetes has them, computes and servers as Nova has
 * them.
 */

/** A Kubernetes node that runs servers, or services. */
export interface ComputeNode {
  readonly name: string;
  readonly cordoned: boolean;
  readonly ready: boolean;
  /** Since when it is not ready, in milliseconds; undefined: it is. */
  readonly lostAt: number | undefined;
  /** The taint node.kubernetes.io/out-of-service: who sets it has made sure that the node is off. */
  readonly fenced: boolean;
}

/** The nova-compute of a host, as Nova lists it. */
export interface ComputeService {
  readonly id: string;
  readonly host: string;
  readonly zone: string;
  readonly isUp: boolean;
  readonly isEnabled: boolean;
  readonly reason: string;
  readonly isForcedDown: boolean;
  /** Nova does not reach its cell: nothing but its host is known, and no list has its servers. */
  readonly isUnknown?: true;
}

/** What is known of a compute whose cell Nova does not reach. */
export const unknownService = (host: string): ComputeService => ({
  id: "",
  host,
  zone: "",
  isUp: false,
  isEnabled: true,
  reason: "",
  isForcedDown: false,
  isUnknown: true,
});

/** A process of Neutron, or of OVN, on a host that was removed. */
export interface HostAgent {
  readonly id: string;
  readonly host: string;
  readonly isAlive: boolean;
}

/** A server on a host, as Nova lists it. */
export interface HostedServer {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly status: string;
  /** What Nova does with it now; "" when nothing. */
  readonly task: string;
}

/** How often this process has ordered a server away from a node, and when last. */
export interface Attempt {
  readonly count: number;
  readonly at: number;
}

/** Limits of `spec.maintenance`, with their defaults. */
export interface Limits {
  /** Compute nodes of one availability zone that are in maintenance at once. */
  readonly nodes: number;
  /** Servers of a node that move at once. */
  readonly moves: number;
  /** How long a node may be away before it counts as lost, in milliseconds. */
  readonly flap: number;
}

/** A cluster of databases, of OVN or of brokers, which serves while most of its members do. */
export interface QuorumCluster {
  readonly component: string;
  /** Members that it should have. */
  readonly size: number;
  /** Pods that exist; `node` undefined: not scheduled. */
  readonly members: readonly { readonly node: string | undefined; readonly isReady: boolean }[];
}

/** What the plan reads. */
export interface Observed {
  readonly nodes: readonly ComputeNode[];
  /** Nodes that run services, where these have clusters of several members. */
  readonly controls: readonly ComputeNode[];
  readonly quorums: readonly QuorumCluster[];
  /** Undefined: nothing of Nova had to be read, or it could not be: why is in `unread`. */
  readonly nova:
    | {
        readonly services: readonly ComputeService[];
        readonly servers: readonly HostedServer[];
        /** Those of `removed`. */
        readonly agents: readonly HostAgent[];
      }
    | undefined;
  readonly unread?: string | undefined;
  /** What the status has of nodes, as it was published last. */
  readonly published: readonly NodeMaintenance[];
  /** Hosts of Nova that were nodes and are none any more. */
  readonly removed: ReadonlySet<string>;
  /** Cordoned nodes that are held, although no group has them: Nova still has their compute. */
  readonly strays: readonly string[];
  /** Budgets, by name, of hosts that neither Kubernetes nor Nova has any more. */
  readonly orphans: readonly string[];
  /** Nodes with a pod that a drain has to evict, and those whose pod may not be evicted now. */
  readonly guards: ReadonlySet<string>;
  readonly held: ReadonlySet<string>;
  readonly attempts: ReadonlyMap<string, Attempt>;
  readonly limits: Limits;
}

/** A node in maintenance, as the status of the deployment has it; `servers` are still on it. */
export interface NodeMaintenance {
  readonly node: string;
  readonly phase:
    | "Waiting"
    | "Moving"
    | "Blocked"
    | "Empty"
    | "Unreachable"
    | "Evacuating"
    | "Evacuated"
    | "Returning"
    | "Removing";
  readonly servers: number;
  readonly message: string;
}

const OURS = "causeway: ";
/** Why a compute is disabled, as Nova keeps it. `isOurs` recognizes it by its beginning. */
export const reasonFor = (node: string, why: "is cordoned" | "is fenced" | "was removed"): string =>
  `${OURS}node ${node} ${why}`;
/** Only what the operator disabled is enabled by it. */
export const isOurs = ({ isEnabled, reason }: ComputeService): boolean => !isEnabled && reason.startsWith(OURS);
