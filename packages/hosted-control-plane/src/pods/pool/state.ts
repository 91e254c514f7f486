import type { KeyPair } from "@causeway/foundation";
import type { EtcdAccess } from "../../etcd/etcd-admin.ts";
import type { ControlPlaneProblem } from "../../runtime.ts";
import type { EtcdAuthorityStage } from "../plan-etcd-authority.ts";
import type { StorageRecord } from "../storage/records.ts";

/** What control planes need of it. */
export interface PoolState {
  readonly ready: boolean;
  readonly namespaceName: string;
  readonly servers: readonly string[];
  /** Addresses of members, the one that leads best first: one that is not to be restarted soon. */
  readonly leaders?: readonly string[];
  /** Of its certificates; undefined: it was not created yet. */
  readonly authority?: KeyPair;
  /** Undefined: it has no quorum. */
  readonly access?: EtcdAccess;
  /** What each control plane stores there, by the name of its namespace. */
  readonly storage?: Readonly<Record<string, StorageRecord>>;
  /** The rotation of its authority, while it continues: control planes that the next stage waits for, by namespace. */
  readonly rotation?: { readonly stage: EtcdAuthorityStage; readonly waitsFor: readonly string[] };
  readonly problem?: ControlPlaneProblem;
}
