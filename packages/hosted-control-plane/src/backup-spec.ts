/** When points of a control plane are created, and how long they are kept. */
export interface Schedule {
  /** Milliseconds between two points with all data. */
  readonly fullEvery: number;
  /** Milliseconds between two points. */
  readonly changesEvery: number;
  /** How far back (ms) one can restore. */
  readonly keep: number;
  /** A point with all data is created, if there is none since then (ms since epoch). */
  readonly requestedAt?: number;
}

/** A control plane's backups as its object has them. */
export interface BackupSpec extends Schedule {
  /** "NAMESPACE/NAME/UID": what its objects in the store begin with. */
  readonly folder: string;
}

/** What a control plane is created from. */
export interface RestoreSpec {
  readonly folder: string;
  /** Milliseconds since epoch; undefined: the newest point. */
  readonly at?: number;
  /** Bytes of keys and values at most: it goes to an etcd that others use, too. */
  readonly limit?: number | undefined;
}
