import { messageOf, unlessAborted, type Clock, type Log } from "@causeway/foundation";
import { ConfigMap, isNotFound, type KubernetesClient, type ObjectKey } from "@causeway/kubernetes";
import { asWritten, type PoolRecord } from "@causeway/octavia-tree";
import type { Member } from "@causeway/openstack";
import { decodeClasses, encodeClasses } from "./classes.ts";
import { decodePools, digestOf, encodePools, membersOf, recordOf, type RecordedPool } from "./format.ts";

/** The keys of the ConfigMap's texts. */
const KEY = "pools";
const CLASSES = "classes";
/** A change is written after this long (ms), with what else changes meanwhile. */
const SOON = 5_000;
/** Two writes are at least this far apart (ms). */
const APART = 10_000;
/** What is not written when the process ends is written within this long (ms). */
const LAST = 2_000;

/** Where members of pools are recorded, and which pools still exist. */
export interface PoolRecordOptions {
  readonly client: KubernetesClient;
  /** The ConfigMap. */
  readonly key: ObjectKey;
  readonly cluster: string;
  /** Is the pool in the cloud? Others are not written. */
  readonly exists: (poolId: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Members of pools in a ConfigMap, so that a process that starts needs not list the members of each pool, and the
 * classes that have a shared load balancer, so that it deletes that of a class that is gone. What is recorded is a fact
 * of the past ("with this entry the pool had these members"), so a late write of an earlier process does no harm. Where
 * the ConfigMap cannot be read or written, members are read from the cloud.
 */
export class StoredPoolRecord implements PoolRecord {
  readonly #options: PoolRecordOptions;
  readonly #pools = new Map<string, RecordedPool>();
  readonly #classes = new Set<string>();
  #read: Promise<void> | undefined;
  #changed = false;
  #wake: (() => void) | undefined;
  #warned = false;

  constructor(options: PoolRecordOptions) {
    this.#options = options;
  }

  /** Resolves when what an earlier process left was read, or cannot be. */
  ready(signal: AbortSignal): Promise<void> {
    this.#read ??= this.#load();
    return unlessAborted(this.#read, signal);
  }

  async #load(): Promise<void> {
    const { client, key, cluster } = this.#options;
    try {
      const map = await client.find(ConfigMap, key);
      const found = decodePools(cluster, map?.data?.[KEY] ?? "");
      for (const [id, pool] of found) if (!this.#pools.has(id)) this.#pools.set(id, pool);
      for (const name of decodeClasses(cluster, map?.data?.[CLASSES] ?? "")) this.#classes.add(name);
    } catch (error) {
      this.#warn("read", error);
    }
  }

  recall(poolId: string, entry: string): readonly Member[] | undefined {
    const pool = this.#pools.get(poolId);
    if (pool?.digest !== digestOf(entry)) return undefined;
    const members = membersOf(pool);
    return members && asWritten([], members);
  }

  keep(poolId: string, entry: string, members: readonly Member[]): void {
    const record = recordOf(entry, members);
    if (!record) return this.drop(poolId);
    const before = this.#pools.get(poolId);
    if (before?.digest === record.digest && before.set === record.set && before.port === record.port) return;
    this.#pools.set(poolId, record);
    this.#change();
  }

  drop(poolId: string): void {
    if (this.#pools.delete(poolId)) this.#change();
  }

  /**
   * Classes whose Ingresses share a load balancer in the cloud that this controller, or an earlier process of it,
   * served.
   */
  get classes(): readonly string[] {
    return [...this.#classes];
  }

  /** Whether the load balancer that the class's Ingresses share is in the cloud. */
  noteClass(name: string, exists: boolean): void {
    if (exists === this.#classes.has(name)) return;
    if (exists) this.#classes.add(name);
    else this.#classes.delete(name);
    this.#change();
  }

  #change(): void {
    this.#changed = true;
    this.#wake?.();
  }

  /** Writes what changes, until the signal aborts; then what is not written yet. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    try {
      for (;;) {
        if (!this.#changed) await unlessAborted(new Promise<void>((wake) => (this.#wake = wake)), signal);
        await clock.sleep(SOON, signal);
        await this.#write(signal);
        await clock.sleep(APART - SOON, signal);
      }
    } finally {
      if (this.#changed) await this.#write(AbortSignal.timeout(LAST));
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { client, key, cluster, exists } = this.#options;
    this.#changed = false;
    for (const id of this.#pools.keys()) if (!exists(id)) this.#pools.delete(id);
    const data = { [KEY]: encodePools(cluster, this.#pools), [CLASSES]: encodeClasses(cluster, this.#classes) };
    try {
      await client.patch(ConfigMap, key, { type: "merge", body: { data } }, { signal });
    } catch (error) {
      this.#changed ||= signal.aborted;
      if (signal.aborted) return;
      if (!isNotFound(error)) return this.#warn("written", error);
      const map: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...key }, data };
      await client.create(ConfigMap, map, { signal }).catch((refused: unknown) => this.#warn("written", refused));
    }
  }

  #warn(done: "read" | "written", error: unknown): void {
    const { log, key } = this.#options;
    if (this.#warned) return;
    this.#warned = true;
    const what = `ConfigMap ${key.namespace}/${key.name} cannot be ${done}: after a restart the members of each pool are read from the cloud`;
    log.warn(what, { error: messageOf(error) });
  }
}
