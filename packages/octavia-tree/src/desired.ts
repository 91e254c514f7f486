import { formatCidr, parseCidr } from "@causeway/foundation";
import type {
  L7Action,
  L7RuleCreate,
  LbAlgorithm,
  ListenerProtocol,
  MemberCreate,
  PoolProtocol,
  SessionPersistence,
} from "@causeway/openstack";
import type { MemberCosts } from "./provider.ts";

/** Milliseconds. What is undefined is left as it is. */
export interface ListenerTimeouts {
  readonly clientData?: number | undefined;
  readonly memberConnect?: number | undefined;
  readonly memberData?: number | undefined;
  readonly tcpInspect?: number | undefined;
}

/** What a listener is to have in addition to its protocol and port. */
export interface ListenerSettings {
  /** In addition to what others gave it. */
  readonly tags: readonly string[];
  readonly connectionLimit: number;
  /** Undefined: the provider does not honour them. None: every client may connect. */
  readonly allowedCidrs: readonly string[] | undefined;
  readonly tlsContainerRef: string | undefined;
  /** Undefined: left as they are. */
  readonly sniContainerRefs?: readonly string[] | undefined;
  readonly insertHeaders: Readonly<Record<string, string>> | undefined;
  readonly timeouts: ListenerTimeouts | undefined;
}

/** A health monitor as it is to be. */
export interface DesiredMonitor {
  readonly type: "TCP" | "UDP-CONNECT" | "SCTP" | "HTTP";
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number;
}

/** A pool with its members and monitor as it is to be. */
export interface DesiredPool {
  readonly poolName: string;
  readonly poolProtocol: PoolProtocol;
  /** In addition to what others gave it. Undefined: none. */
  readonly poolTags?: readonly string[];
  readonly algorithm: LbAlgorithm;
  readonly persistence: SessionPersistence | null;
  readonly members: readonly MemberCreate[];
  readonly monitor: DesiredMonitor | undefined;
  readonly monitorName: string;
  /**
   * With upkeep "access": the load balancer is still being made. The pool gets its monitor although a listener uses it,
   * for its provider takes none in a create.
   */
  readonly isNew?: boolean;
  /** Members are sent one by one. */
  readonly serial: boolean;
  readonly memberCosts: MemberCosts;
}

/** What a listener does with requests for which all rules are true. */
export interface DesiredPolicy {
  readonly action: L7Action;
  /** By name: for REDIRECT_TO_POOL. */
  readonly pool?: string;
  readonly url?: string;
  readonly prefix?: string;
  readonly code?: number;
  readonly rules: readonly L7RuleCreate[];
}

/** A listener as it is to be. */
export interface DesiredListener extends ListenerSettings {
  readonly listenerName: string;
  readonly protocol: ListenerProtocol;
  readonly port: number;
  /** By name. */
  readonly defaultPool: string | undefined;
  /** In this order: the first whose rules are all true decides. */
  readonly policies: readonly DesiredPolicy[];
}

/**
 * Which settings of parts that exist follow the desired tree. "all": all of them. "access": who is let in and what is
 * reached, that is which listeners and pools there are, source ranges, and the places and names of members. Everything
 * else is written when a part is created and belongs to the operator from then on: tags, limits, algorithms, monitors,
 * weights, and what is switched off.
 */
export type Upkeep = "all" | "access";

/** A load balancer with everything below it. */
export interface DesiredTree {
  /** Default: "all". */
  readonly upkeep?: Upkeep;
  readonly description?: string;
  /** In addition to what others gave it. */
  readonly tags: readonly string[];
  readonly listeners: readonly DesiredListener[];
  readonly pools: readonly DesiredPool[];
}

/** Source ranges that admit every client are none. */
export function restriction(ranges: readonly string[]): readonly string[] {
  const canonical = ranges.map((range) => {
    const cidr = parseCidr(range);
    return cidr ? formatCidr(cidr) : range;
  });
  return canonical.some((range) => range === "0.0.0.0/0" || range === "::/0") ? [] : [...new Set(canonical)];
}
