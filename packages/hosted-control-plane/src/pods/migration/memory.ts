import type { MigrationStage } from "./record.ts";

/** Both sides at the moment of the comparison, in which no write is accepted. */
export interface Comparison {
  readonly keys: number;
  readonly hash: string;
  /** Of the shared etcd. */
  readonly revision: number;
}

/** What this process did for one attempt; another process begins without it. */
export interface MigrationMemory {
  readonly attempt: number;
  /** All data was copied once, and what changes is known. */
  readonly copied?: true;
  readonly compared?: Comparison;
  /**
   * In which stage writes to the shared etcd were accepted again: after a thaw in Freezing they are refused once more.
   */
  readonly thawed?: MigrationStage;
  /** Why the attempt ends. */
  readonly failure?: string;
  /** The data in the shared etcd was deleted. */
  readonly removed?: true;
}

/** How the own etcd is to be now, next to the shared one. */
export interface OwnEtcd {
  /** Its members start with the record's revision; later they are restarted without the container for that. */
  readonly seeded: boolean;
}
