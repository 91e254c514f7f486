import type { Clock } from "@causeway/foundation";
import type { DatastoreReader, KeyList, Value } from "../datastore.ts";
import { createFollower, type Follower } from "../follow.ts";

/** How fast a client writes, how slowly a backup reads, and what etcd does to it. Times are in milliseconds. */
export interface Pace {
  readonly keys: number;
  /** Between two writes of a client, which rewrites one key after the other. */
  readonly write: number;
  /** One read of a value. */
  readonly read: number;
  /** One list of all keys, or one read at one moment. */
  readonly list: number;
  /** One write of values to the object store. */
  readonly store: number;
  /** Between a write and its arrival in the stream. Infinity: no stream is served. */
  readonly lag: number;
  /** Writes between two compactions to the revision of now; a stream that lags behind one ends. */
  readonly compaction: number;
  /** The most keys that one read at one moment returns. */
  readonly atOnce: number;
}

type Written = Required<Value>;
interface Stream {
  readonly onLine: (line: Record<string, unknown>) => boolean | Promise<boolean>;
  readonly end: (answer: Record<string, unknown>) => void;
  readonly left: { readonly at: number; readonly value: Written }[];
}

/** Each call takes its time, during which the client writes: time passes in no other way. */
export class BusyStore implements DatastoreReader {
  #now = 0;
  #revision = 0;
  #compacted = 0;
  #nextWrite = 0;
  #streams: Stream[] = [];
  calls = 0;
  readonly #history: Written[] = [];
  readonly pace: Pace;
  readonly clock = { now: () => this.#now, sleep: async (time: number) => this.pass(time) } as unknown as Clock;

  constructor(pace: Pace) {
    this.pace = pace;
    for (let i = 0; i < pace.keys; i++) this.#put();
  }

  get now(): number {
    return this.#now;
  }

  /** The value of a key at a revision. */
  at(key: string, revision: number): Written | undefined {
    return this.#history.findLast((each) => each.key === key && each.modified <= revision);
  }

  async pass(time: number): Promise<void> {
    const end = this.#now + time;
    for (; this.#nextWrite <= end; this.#nextWrite += this.pace.write) {
      this.#now = Math.max(this.#now, this.#nextWrite);
      this.#put();
      this.#deliver();
    }
    this.#now = end;
    this.#deliver();
    // What the end of a stream starts runs before the next call.
    await new Promise(setImmediate);
  }

  #put(): void {
    const key = `${this.#revision % this.pace.keys}`.padStart(4, "0");
    const value = { key, value: `${key}@${++this.#revision}`, modified: this.#revision };
    this.#history.push(value);
    for (const { left } of this.#streams) left.push({ at: this.#now + this.pace.lag, value });
    if (this.#revision % this.pace.compaction === 0) this.#compacted = this.#revision;
  }

  #deliver(): void {
    const open: Stream[] = [];
    for (const stream of this.#streams) {
      const due = stream.left.findIndex(({ at }) => at > this.#now);
      const events = stream.left.splice(0, due === -1 ? Infinity : due).map(({ value: kv }) => ({ kv }));
      if (events.length > 0) void stream.onLine({ result: { events } });
      // etcd keeps what it was about to send, and reads what is older from its data.
      const oldest = stream.left[0]?.value.modified ?? Infinity;
      if (oldest < this.#compacted && this.pace.lag > 1_000) stream.end({});
      else open.push(stream);
    }
    this.#streams = open;
  }

  async keys(): Promise<KeyList> {
    await this.#call(this.pace.list);
    return this.#list();
  }

  #list(): KeyList {
    const newest = new Map(this.#history.map(({ key, modified }) => [key, modified]));
    const keys = [...newest].map(([key, modified]) => ({ key, modified }));
    return { revision: this.#revision, cluster: "1", keys };
  }

  async *values() {
    for (let i = 0; i < this.pace.keys; i++) {
      const value = await this.value(`${i}`.padStart(4, "0"));
      if (value !== undefined) yield [value];
    }
  }

  async value(key: string, revision?: number): Promise<Written | undefined> {
    await this.#call(this.pace.read);
    if (revision !== undefined && revision < this.#compacted) return undefined;
    return this.at(key, revision ?? this.#revision);
  }

  async writtenSince(revision: number): Promise<{ list: KeyList; values: readonly Written[] } | undefined> {
    await this.#call(this.pace.list);
    const list = this.#list();
    if (list.keys.length > this.pace.atOnce) return undefined;
    return {
      list,
      values: list.keys.flatMap(({ key, modified }) => (modified < revision ? [] : (this.at(key, modified) ?? []))),
    };
  }

  async #call(time: number): Promise<void> {
    this.calls++;
    await this.pass(time);
  }

  follow(): Follower {
    const call = async (
      _: string,
      __?: object,
      { onLine = () => false }: { onLine?: Stream["onLine"] } = {},
    ): Promise<Record<string, unknown>> => {
      if (this.pace.lag === Infinity) throw new Error("no stream is served");
      return new Promise((end) => {
        this.#streams.push({ onLine, end, left: [] });
        void onLine({ result: { created: true } });
      });
    };
    return createFollower(call, { key: "", range_end: "" }, (kvs) => kvs as readonly Written[]);
  }

  close(): void {}
}
