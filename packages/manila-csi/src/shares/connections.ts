import { CausewayError, type Clock } from "@causeway/foundation";
import { cloudFingerprint, type Cloud, type CloudConfig, type SharedFileSystem } from "@causeway/openstack";
import { cloudOfSecrets } from "../secrets.ts";
import { Waiter } from "./waiter.ts";

/** Manila of one project, with the credentials of a Secret. */
export interface ShareCloud {
  readonly manila: SharedFileSystem.SharedFileSystemService;
  readonly shares: Waiter<SharedFileSystem.Share>;
  readonly snapshots: Waiter<SharedFileSystem.ShareSnapshot>;
}

/** How clouds are connected to for the credentials that calls have. */
export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly connect: (config: CloudConfig) => Cloud;
  /** Connections that are kept while no call uses them. Default 64. */
  readonly most?: number;
}

interface Connection {
  readonly cloud: Cloud;
  readonly storage: ShareCloud;
  users: number;
}

/**
 * One connection, and so one token, for each credential, kept between calls. Those that were used least recently are
 * closed.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  /** In the order of their last use. */
  readonly #known = new Map<string, Connection>();
  #closed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** How many are open. */
  get size(): number {
    return this.#known.size;
  }

  /** Runs the work with the connection for a call's Secret. Throws CSI_INVALID_ARGUMENT, and what the work throws. */
  async use<T>(secrets: Readonly<Record<string, string>>, work: (storage: ShareCloud) => Promise<T>): Promise<T> {
    if (this.#closed) throw new CausewayError("CSI_UNAVAILABLE", "The driver is stopping.");
    const config = cloudOfSecrets(secrets);
    const key = cloudFingerprint(config);
    const connection = this.#known.get(key) ?? this.#open(config);
    this.#known.delete(key);
    this.#known.set(key, connection);
    connection.users += 1;
    try {
      return await work(connection.storage);
    } finally {
      connection.users -= 1;
      this.#evict();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#known.values()];
    this.#known.clear();
    await Promise.all(all.map(({ cloud }) => cloud.close()));
  }

  #open(config: CloudConfig): Connection {
    const cloud = this.#options.connect(config);
    const { sharedFileSystem: manila } = cloud;
    const { clock } = this.#options;
    return {
      cloud,
      users: 0,
      storage: {
        manila,
        shares: new Waiter(readerOf(manila.shares), clock),
        snapshots: new Waiter(readerOf(manila.snapshots), clock),
      },
    };
  }

  #evict(): void {
    const { most = 64 } = this.#options;
    for (const [key, connection] of this.#known) {
      if (this.#known.size <= most) return;
      if (connection.users > 0) continue;
      this.#known.delete(key);
      void connection.cloud.close();
    }
  }
}

interface Readable<T> {
  find(id: string, options: { readonly signal: AbortSignal }): Promise<T | undefined>;
  all(query: Readonly<Record<string, never>>, options: { readonly signal: AbortSignal }): Promise<T[]>;
}

const readerOf = <T extends { readonly id: string }>(collection: Readable<T>) => ({
  one: (id: string, signal: AbortSignal) => collection.find(id, { signal }),
  all: (signal: AbortSignal) => collection.all({}, { signal }),
});
