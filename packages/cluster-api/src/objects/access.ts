import type { ObjectKey } from "@causeway/kubernetes";

/** A member of the etcd on a control plane's machines. Its name is that of its Node. */
export interface EtcdMember {
  readonly id: string;
  readonly name: string;
  /** It has no vote yet. */
  readonly isLearner: boolean;
  readonly isLeader: boolean;
  /** Why it does not serve, if so: it does not respond, or has an alarm. */
  readonly problem?: string;
}

/** A workload cluster, and the Nodes of its control plane that respond. */
export interface EtcdPlace {
  readonly cluster: ObjectKey;
  readonly nodes: readonly string[];
}

/**
 * What only the machines of a control plane can say, and no API server: their etcd and their certificates. A port, so
 * that tests and simulated machines play it.
 */
export interface ControlPlaneAccess {
  /** @throws when no member responds */
  members(place: EtcdPlace, signal: AbortSignal): Promise<readonly EtcdMember[]>;
  /** A member that is gone already counts as removed. */
  removeMember(place: EtcdPlace, member: EtcdMember, signal: AbortSignal): Promise<void>;
  moveLeader(place: EtcdPlace, to: EtcdMember, signal: AbortSignal): Promise<void>;
  /** When the API server's certificate on a Node expires (ms since the epoch); undefined if it cannot be read. */
  certificateExpiry(place: EtcdPlace, node: string, signal: AbortSignal): Promise<number | undefined>;
}
