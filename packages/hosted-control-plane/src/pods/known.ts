import type { BackupState, ControlPlaneSpec, ControlPlaneState } from "../runtime.ts";
import type { MigrationMemory } from "./migration/memory.ts";
import type { RestoreFailure } from "./observed.ts";

/** What this process knows of one control plane. */
export interface Known {
  spec: ControlPlaneSpec;
  state: ControlPlaneState;
  namespaceName: string;
  joinedAt: string | undefined;
  hasEtcdUser: boolean;
  restored: boolean;
  migration: MigrationMemory | undefined;
  backup: BackupState | undefined;
  /** What was seen of the members of its etcd, and since when. */
  members: { readonly seen: string; readonly since: number };
  /** Of a request that is the same. */
  restoreFailure: (RestoreFailure & { readonly of: string }) | undefined;
}

/** What a new process knows of a control plane. */
export const unseen = {
  joinedAt: undefined,
  hasEtcdUser: false,
  restored: false,
  migration: undefined,
  backup: undefined,
  members: { seen: "", since: 0 },
  restoreFailure: undefined,
};
