import type { KubeObject, Namespace, Pod } from "@causeway/kubernetes";
import type { ControlPlaneProblem, ControlPlaneSpec, NodeClock } from "../runtime.ts";
import type { MigrationMemory, OwnEtcd } from "./migration/memory.ts";
import type { PodsSettings } from "./options.ts";
import type { EtcdMembership } from "./pool/membership.ts";
import type { PoolState } from "./pool/state.ts";

/** Where nodes and users reach the API servers. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** What the other control planes of the same namespace of the management cluster have. */
export interface OtherControlPlanes {
  readonly controlPlanes: number;
  /** Bytes of all their volumes. */
  readonly storage: number;
}

/** Of a restore that would fail again. */
export interface RestoreFailure {
  readonly problem: ControlPlaneProblem;
  readonly until: number;
}

/** Everything that the plan of one control plane in a service cluster is made from. */
export interface Observed {
  /** What its programs are to be now: the request, but with the datastore that serves. */
  readonly spec: ControlPlaneSpec;
  readonly requested: ControlPlaneSpec;
  /** What this process did for the move to its own etcd. */
  readonly migration: MigrationMemory | undefined;
  /** Namespaces of other control planes whose data this process copies, or is about to. */
  readonly otherCopies?: readonly string[];
  /** This process copies the data of another one now. */
  readonly isOtherCopied?: boolean;
  /** The own etcd that it is to move to, where there is to be one now. */
  readonly nextEtcd?: OwnEtcd | undefined;
  readonly settings: PodsSettings;
  /** The name of its namespace. */
  readonly namespaceName: string;
  readonly namespace: Namespace | undefined;
  /** Objects of ours in the namespace, by kind and name. */
  readonly live: ReadonlyMap<string, KubeObject>;
  readonly pods: readonly Pod[];
  /** Nodes of its pods whose clocks are wrong. */
  readonly clocks?: readonly NodeClock[];
  /** cloud.conf; undefined: none is requested, or its Secret does not exist. */
  readonly cloudConfig: string | undefined;
  /** The namespace of the etcd that it shares; undefined: that of its management cluster. */
  readonly poolNamespace?: string;
  /** The etcd that control planes share; undefined: nothing is known of it yet. */
  readonly pool: PoolState | undefined;
  /** Of its own etcd, while its number of members changes; undefined: it was not read, or the etcd does not respond. */
  readonly membership: EtcdMembership | undefined;
  /** The error of the last read. */
  readonly membershipFailure?: string;
  /** Since when nothing of its members changed (ms since epoch), while another number of them is requested. */
  readonly membersSince?: number;
  /** This process saw to its user of that etcd. */
  readonly hasEtcdUser: boolean;
  /** The URL at which this process created what machines need to join, and a digest of rotated roots. */
  readonly joinedAt: string | undefined;
  /** This process restored its data. */
  readonly restored: boolean;
  /** Why its backup cannot be restored, and until when (ms since epoch) it is not read again. */
  readonly restoreFailure?: RestoreFailure;
  readonly otherControlPlanes: OtherControlPlanes;
  /** Bytes of the shared etcd that it may have. */
  readonly share: number;
}
