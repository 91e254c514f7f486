import { backoff, CausewayError, type Clock, type Log } from "@causeway/foundation";
import { isRetryableOpenStackError } from "../errors/predicates.ts";
import { ChangeWindow, type ChangeMarks } from "./changes.ts";
import { Durations, type Transition } from "./durations.ts";
import type { CloudChange, CloudInformer } from "./interface.ts";
import { closePoll, nextPoll, pace, restAfter, type WatchIntervals } from "./pace.ts";
import { ObjectStore, type Indexes } from "./store.ts";

/** What an informer has to know of a resource type. */
export interface WatchedType<T> {
  readonly name: string;
  readonly indexes: Indexes<T>;
  /** True if the object will change by itself soon; `unchanged` is how long (ms) it has been seen as it is. */
  readonly inTransition: (object: T, unchanged: number) => boolean;
  /** Which transition it is in: those of one kind and size take about the same time. Undefined: they do not. */
  readonly transition?: (object: T) => Transition;
  /** A transition of it is watched by another list: for it, this one is not polled. */
  readonly settlesWithAnother?: true;
  /** True if a delete of it has been accepted. */
  readonly deleting: (object: T) => boolean;
  readonly hardlyChanges: boolean;
  /** A new time stamp alone is a change: it shows a change of parts that no list has. */
  readonly marksCount?: true;
  /** With `listChanged`: what has changed lately is listed in place of all, where that is enough. */
  readonly changes?: ChangeMarks<T>;
}

/** What an informer polls, and how often. */
export interface InformerOptions<T> {
  readonly type: WatchedType<T>;
  readonly list: (signal: AbortSignal) => Promise<T[]>;
  /** What has changed since then; undefined: the service has no such list. */
  readonly listChanged?: (since: string, signal: AbortSignal) => Promise<T[] | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  readonly intervals: WatchIntervals;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
  /** What is gone has to be gone from the copy, too. */
  readonly whole: boolean;
}

interface UnderWay {
  readonly what: Transition;
  /** When it was first seen (ms since epoch). */
  readonly since: number;
  /** Milliseconds to the last poll that saw it continue. */
  readonly after: number;
}

const HURRY = 30_000;
/** How much later (ms) than expected a transition is polled whose end a write of ours is to show. */
const PUT_OFF = 500;
const afterFailure = backoff({ base: 1_000, cap: 60_000 });

/** One resource type of one project, polled by one loop. See CloudInformer for the contract. */
export class PollingInformer<T extends { id: string }> implements CloudInformer<T> {
  readonly #options: InformerOptions<T>;
  readonly #store: ObjectStore<T>;
  readonly #durations = new Durations();
  /** What is in a transition whose length can be learned, by id. */
  readonly #transitions = new Map<string, UnderWay>();
  /** When the transitions are expected to be over whose end a write of ours will show, by id. */
  readonly #putOff = new Map<string, number>();
  readonly #handlers = new Set<(change: CloudChange<T>) => void>();
  readonly #closing = new AbortController();
  /** Counts our writes; a list that began before a write says nothing of what was written. */
  #sequence = 0;
  readonly #window: ChangeWindow<T> | undefined;
  readonly #written = new Map<string, number>();
  /** Deleted by us. A list that still shows them on their way out does not bring them back. */
  readonly #forgotten = new Set<string>();
  #leaving = 0;
  #loop: Promise<void> | undefined;
  #wake: AbortController | undefined;
  #synced = false;
  #starting: Waiter[] = [];
  #refreshing: Waiter[] = [];
  #hurriedUntil = 0;
  #begunAt = 0;
  #listedAt = 0;
  #took = Number.POSITIVE_INFINITY;
  #failures = 0;
  #failure: unknown;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#store = new ObjectStore(options.type.indexes, options.type.marksCount, (object) =>
      options.type.inTransition(object, 0),
    );
    const { changes } = options.type;
    this.#window = changes && options.listChanged && new ChangeWindow(changes);
  }

  get synced(): boolean {
    return this.#synced;
  }
  get listedAt(): number {
    return this.#listedAt;
  }
  get failure(): unknown {
    return this.#failure;
  }
  get(id: string): T | undefined {
    return this.#store.get(id);
  }
  list(): readonly T[] {
    return this.#store.list();
  }
  byIndex(index: string, value: string): readonly T[] {
    return this.#store.byIndex(index, value);
  }
  onChange(handler: (change: CloudChange<T>) => void): () => void {
    const own = (change: CloudChange<T>) => handler(change);
    this.#handlers.add(own);
    return () => this.#handlers.delete(own);
  }

  observe(object: T): void {
    this.#written.set(object.id, ++this.#sequence);
    this.#forgotten.delete(object.id);
    this.#follow(object, this.#options.clock.now());
    this.#notify([this.#store.put(object, this.#options.clock.now())]);
    this.#wake?.abort();
  }

  forget(id: string): void {
    this.#written.set(id, ++this.#sequence);
    this.#forgotten.add(id);
    this.#transitions.delete(id);
    this.#putOff.delete(id);
    this.#notify([this.#store.remove(id)]);
  }

  putOff(id: string): void {
    const known = this.#transitions.get(id);
    const expected = known && this.#durations.expected(known.what);
    if (!known || !expected) return;
    this.#putOff.set(id, known.since + expected.atMost);
    this.#wake?.abort();
  }

  putOffUntil(id: string): number | undefined {
    return this.#putOff.get(id);
  }

  checkAgain(id: string): void {
    if (this.#putOff.delete(id)) this.#wake?.abort();
  }

  hurry(until?: number): void {
    const wanted = until ?? this.#options.clock.now() + HURRY;
    if (wanted <= this.#hurriedUntil) return;
    this.#hurriedUntil = wanted;
    this.#wake?.abort();
  }

  /** Also starts polling if it was not started. Rejects when that poll fails; the polling continues. */
  refresh(signal?: AbortSignal, scope: "all" | "changes" = "all"): Promise<void> {
    return this.#wait(this.#refreshing, signal, scope === "all");
  }

  /** Rejects when the first list fails permanently (credentials, no such service); the polling continues. */
  start(signal?: AbortSignal): Promise<void> {
    if (this.#synced) return Promise.resolve();
    return this.#wait(this.#starting, signal, true);
  }

  async close(): Promise<void> {
    const reason = new CausewayError("CLOUD_CLOSED", `The watch of ${this.#options.type.name} has been closed.`);
    this.#closing.abort(reason);
    this.#wake?.abort();
    await this.#loop;
    for (const waiter of [...this.#starting, ...this.#refreshing]) waiter.reject(reason);
    this.#handlers.clear();
  }

  #wait(line: Waiter[], signal: AbortSignal | undefined, whole: boolean): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      const done = (settle: () => void) => {
        signal?.removeEventListener("abort", onAbort);
        settle();
      };
      line.push({ resolve: () => done(resolve), reject: (reason) => done(() => reject(reason)), whole });
      this.#loop ??= this.#run();
      this.#wake?.abort();
    });
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#poll();
      await this.#pause();
    }
  }

  async #poll(): Promise<void> {
    const { clock, log, type } = this.#options;
    const waiting = this.#refreshing.splice(0);
    const sequence = this.#sequence;
    this.#begunAt = clock.now();
    try {
      const changed = await this.#listChanged(waiting.some(({ whole }) => whole));
      const objects = changed ?? (await this.#options.list(this.#closing.signal));
      this.#took = clock.now() - this.#begunAt;
      if (this.#failures > 0) log.info("watch continues", { resource: type.name, failures: this.#failures });
      this.#failures = 0;
      this.#failure = undefined;
      this.#synced = true;
      this.#listedAt = this.#begunAt;
      this.#window?.listed(objects, this.#begunAt, changed === undefined);
      this.#take(objects, sequence);
      if (changed) this.#unchanged(changed);
      else this.#removeMissing(objects, sequence);
      for (const waiter of [...waiting, ...this.#starting.splice(0)]) waiter.resolve();
    } catch (error) {
      for (const waiter of waiting) waiter.reject(error);
      if (this.#closing.signal.aborted) return;
      this.#failures++;
      this.#failure = error;
      if (!isRetryableOpenStackError(error)) for (const waiter of this.#starting.splice(0)) waiter.reject(error);
      const fields = { resource: type.name, failures: this.#failures, error };
      if (this.#failures === 1) log.warn("a list failed; it is retried", fields);
      else log.debug("a list failed again", fields);
    }
  }

  /** Undefined: all have to be listed. */
  async #listChanged(whole: boolean): Promise<T[] | undefined> {
    const { clock, listChanged } = this.#options;
    if (whole || !this.#synced || this.#leaving > 0 || !listChanged) return undefined;
    const changing = [...this.#store.changing()].map(({ object }) => object);
    const since = this.#window?.since(clock.now(), this.#store.size, changing);
    const objects = since === undefined ? undefined : await listChanged(since, this.#closing.signal);
    if (since !== undefined && objects === undefined) this.#window?.refused();
    return objects;
  }

  #isNewer(id: string, sequence: number): boolean {
    return (this.#written.get(id) ?? 0) > sequence;
  }

  #take(objects: readonly T[], sequence: number): void {
    const now = this.#options.clock.now();
    const begunAt = this.#begunAt;
    const changes: (CloudChange<T> | undefined)[] = [];
    this.#leaving = 0;
    for (const object of objects) {
      if (this.#isNewer(object.id, sequence)) continue;
      if (this.#forgotten.has(object.id) && this.#options.type.deleting(object)) {
        this.#leaving++;
        continue;
      }
      this.#forgotten.delete(object.id);
      this.#follow(object, now, begunAt);
      changes.push(this.#store.put(object, now));
    }
    this.#notify(changes);
  }

  /** What a list of all does not have is gone. */
  #removeMissing(objects: readonly T[], sequence: number): void {
    const seen = new Set(objects.map(({ id }) => id));
    const changes: (CloudChange<T> | undefined)[] = [];
    for (const id of this.#store.ids()) {
      if (seen.has(id) || this.#isNewer(id, sequence)) continue;
      this.#settle(id, this.#begunAt);
      changes.push(this.#store.remove(id));
    }
    for (const id of this.#forgotten) if (!seen.has(id) && !this.#isNewer(id, sequence)) this.#forgotten.delete(id);
    for (const [id, written] of this.#written) if (written <= sequence) this.#written.delete(id);
    this.#notify(changes);
  }

  /** What a list of changes does not have is as it was: its transition continues. */
  #unchanged(changed: readonly T[]): void {
    const seen = new Set(changed.map(({ id }) => id));
    for (const [id, known] of this.#transitions) {
      if (seen.has(id)) continue;
      this.#transitions.set(id, { ...known, after: Math.max(known.after, this.#begunAt - known.since) });
    }
  }

  /**
   * Notes since when the object is in its transition; other fields may change meanwhile. `checkedAt`: when the poll
   * that shows it began, if one does.
   */
  #follow(object: T, now: number, checkedAt?: number): void {
    const { transition, inTransition } = this.#options.type;
    if (!transition) return;
    if (!inTransition(object, 0)) return this.#settle(object.id, checkedAt ?? now);
    const what = transition(object);
    const end = this.#putOff.get(object.id);
    const known = end !== undefined && checkedAt === undefined ? undefined : this.#transitions.get(object.id);
    // The write that was to show the end has been made, or a list that is newer than the expected end has come first.
    if (end !== undefined && (checkedAt === undefined || checkedAt >= end)) this.#putOff.delete(object.id);
    const { since, after } = known?.what.kind === what.kind ? known : { since: now, after: 0 };
    this.#transitions.set(object.id, { what, since, after: Math.max(after, (checkedAt ?? since) - since) });
  }

  /** A transition is over: the next of its kind is expected to take as long. */
  #settle(id: string, checkedAt: number): void {
    this.#putOff.delete(id);
    const known = this.#transitions.get(id);
    if (known === undefined) return;
    this.#transitions.delete(id);
    this.#durations.settled(known.what, { after: known.after, by: Math.max(0, checkedAt - known.since) });
  }

  #notify(changes: readonly (CloudChange<T> | undefined)[]): void {
    for (const change of changes) {
      if (change === undefined) continue;
      for (const handler of this.#handlers) {
        try {
          handler(change);
        } catch (error) {
          this.#options.log.error("a handler of cloud changes failed", { resource: this.#options.type.name, error });
        }
      }
    }
  }

  /** Waits until the next poll is due; a wake-up may have changed when that is. */
  async #pause(): Promise<void> {
    const { clock, intervals } = this.#options;
    while (!this.#closing.signal.aborted) {
      const isRequested = this.#refreshing.length > 0;
      const wait = (isRequested ? this.#begunAt + (intervals.apart ?? 0) : this.#dueAt()) - clock.now();
      if (wait <= 0) return;
      const wake = new AbortController();
      this.#wake = wake;
      await clock.sleep(wait, wake.signal).catch(() => {});
      this.#wake = undefined;
    }
  }

  #dueAt(): number {
    const { clock, intervals, type } = this.#options;
    const polledAt = this.#begunAt;
    if (this.#failures > 0) return polledAt + afterFailure(this.#failures);
    const now = clock.now();
    const took = this.#took;
    const hurried = now < this.#hurriedUntil;
    const due = (age: number | undefined): number =>
      polledAt + pace({ took, hurried, age, hardlyChanges: type.hardlyChanges }, intervals);
    if (hurried || this.#leaving > 0) return due(0);
    let first = due(undefined);
    for (const { object, changedAt: since } of this.#store.changing()) {
      if (type.settlesWithAnother || !type.inTransition(object, now - since)) continue;
      const known = this.#transitions.get(object.id);
      const end = this.#putOff.get(object.id);
      const at = end !== undefined ? end + PUT_OFF : known ? this.#nextCheck(known) : due(now - since);
      first = Math.min(first, at);
    }
    return Math.max(first, polledAt + Math.max(intervals.apart ?? 0, restAfter(took)));
  }

  #nextCheck({ what, since }: UnderWay): number {
    const { intervals } = this.#options;
    const looking = { since, polledAt: this.#begunAt, took: this.#took };
    const expected = this.#durations.expected(what);
    if (expected) return nextPoll({ ...looking, expected }, intervals);
    return closePoll({ ...looking, hint: this.#durations.quickest(what) }, intervals);
  }
}
