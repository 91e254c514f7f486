import {
  backoff,
  CausewayError,
  InputError,
  messageOf,
  silentLog,
  systemClock,
  unlessAborted,
  type Clock,
  type GaugeMetric,
  type Log,
  type Metrics,
} from "@causeway/foundation";
import type { KubernetesClient } from "../client/interface.ts";
import type { ShardVisit, Shards } from "../controller/interface.ts";
import { electLeader } from "../election/elect.ts";
import { assignShards, shardOf } from "./assign.ts";
import { Membership, type Members } from "./membership.ts";

/** The Leases by which processes share namespaces. */
export interface SharedWorkOptions {
  readonly client: KubernetesClient;
  /** Where the Leases (coordination.k8s.io/v1) are. */
  readonly namespace: string;
  /** What the processes that share namespaces have in common, and the beginning of the names of their Leases. */
  readonly name: string;
  /** Unlike any other process's, such as the pod's name with a random end. */
  readonly identity: string;
  /** Into how many shards namespaces are hashed, from 1 to 256; all processes have the same number. */
  readonly count: number;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Milliseconds: others take over after this. Default 15 000. */
  readonly leaseDuration?: number;
  /** Milliseconds between renewals. Default 3 000. */
  readonly retryPeriod?: number;
}

/** Milliseconds after which a shard that is not drained yet is reported. */
const DRAIN_REPORTED = 30_000;

/** Milliseconds. */
const PREPARED_TOGETHER = 100;

/** Namespaces shared by processes: what controllers ask, and what keeps the share. */
export interface SharedWork extends Shards {
  /**
   * Joins the others, and works on a share of the namespaces until the signal aborts and what is under way has ended.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** The most shards: each costs a Lease that is renewed. */
export const MOST_SHARDS = 256;

/**
 * Divides namespaces among processes: each namespace belongs to a shard by its hash, each shard to the process that
 * holds its Lease. A process that joins, leaves or dies moves shards. A shard is given up only when the work in its
 * namespaces has ended, so that two processes never work on one.
 *
 * @throws SHARDS_INVALID
 */
export function createSharedWork(options: SharedWorkOptions): SharedWork {
  const { count } = options;
  if (!Number.isInteger(count) || count < 1 || count > MOST_SHARDS)
    throw new InputError("SHARDS_INVALID", `The number of shards must be from 1 to ${MOST_SHARDS}; it is ${count}.`);
  return new Share(options);
}

/** A shard that this process holds. */
class HeldShard {
  readonly since: number;
  readonly #end = new AbortController();
  readonly #drained: (() => void)[] = [];
  #visits = 0;

  constructor(since: number) {
    this.since = since;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  enter(): ShardVisit {
    this.#visits++;
    let left = false;
    return {
      signal: this.signal,
      leave: () => {
        if (left) return;
        left = true;
        if (--this.#visits === 0) for (const resolve of this.#drained.splice(0)) resolve();
      },
    };
  }

  /** Resolves when the last visit has ended. */
  close(): Promise<void> {
    this.#end.abort(new CausewayError("KUBERNETES_SHARD_LOST", "the namespace now belongs to another process"));
    return this.#visits === 0 ? Promise.resolve() : new Promise((resolve) => this.#drained.push(resolve));
  }
}

class Share implements SharedWork {
  readonly #options: SharedWorkOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #held = new Map<number, HeldShard>();
  readonly #handlers = new Set<() => void>();
  readonly #preparations = new Set<(signal: AbortSignal) => Promise<void>>();
  /** The preparation that shards join which are won now; undefined once it has begun. */
  #nextPreparation: Promise<void> | undefined;
  #life: AbortSignal = AbortSignal.abort();
  readonly #heldGauge: GaugeMetric | undefined;
  readonly #membersGauge: GaugeMetric | undefined;
  /** The candidacies for shards that belong to this process, by shard. */
  readonly #standing = new Map<number, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  constructor(options: SharedWorkOptions) {
    const { name, identity, metrics } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = (options.log ?? silentLog).with({ shards: name, identity });
    const labels = ["name"];
    this.#heldGauge = metrics?.gauge({ name: "causeway_shards_held", help: "Shards of this process.", labels });
    this.#membersGauge = metrics?.gauge({ name: "causeway_shards_members", help: "Processes that share.", labels });
    this.#heldGauge?.set(0, { name });
  }

  owns(namespace: string): boolean {
    return this.#held.has(shardOf(namespace, this.#options.count));
  }

  enter(namespace: string): ShardVisit | undefined {
    return this.#held.get(shardOf(namespace, this.#options.count))?.enter();
  }

  since(namespace: string): number | undefined {
    return this.#held.get(shardOf(namespace, this.#options.count))?.since;
  }

  beforeWork(handler: (signal: AbortSignal) => Promise<void>): () => void {
    const subscription = (signal: AbortSignal) => handler(signal);
    this.#preparations.add(subscription);
    return () => this.#preparations.delete(subscription);
  }

  onChange(handler: () => void): () => void {
    const subscription = () => handler();
    this.#handlers.add(subscription);
    return () => this.#handlers.delete(subscription);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#life = signal;
    const { identity, count, retryPeriod = 3_000, leaseDuration = 15_000 } = this.#options;
    const membership = new Membership({ ...this.#options, clock: this.#clock, leaseDuration });
    let known = "";
    let failures = 0;
    while (!signal.aborted) {
      try {
        const members = await membership.renew(signal);
        failures = 0;
        known = this.#report(members, known);
        const mine = members.other ? [] : assignShards(count, members.live);
        this.#standFor(new Set(mine.flatMap((owner, shard) => (owner === identity ? [shard] : []))), signal);
      } catch (error) {
        // The Leases of the shards decide: what is held is kept as long as those are renewed.
        if (!signal.aborted && ++failures === 2)
          this.#log.warn("the members that share the work cannot be listed", { reason: messageOf(error) });
      }
      await this.#clock.sleep(retryPeriod, signal).catch(() => {});
    }
    this.#standFor(new Set(), signal);
    await Promise.all([...this.#standing.values()].map(({ ended }) => ended));
    await membership.leave(AbortSignal.timeout(5_000)).catch((error: unknown) => {
      this.#log.debug("the membership was not ended and will run out", { reason: messageOf(error) });
    });
  }

  /** Logs members that came or went, once. */
  #report({ live, other }: Members, known: string): string {
    this.#membersGauge?.set(live.length, { name: this.#options.name });
    const now = [...live].sort().join(" ") + (other ? ` ${other.count}` : "");
    if (now === known) return known;
    if (other) {
      this.#log.warn("waiting for a process that works with another number of shards", {
        other: other.identity,
        itsShards: other.count,
        shards: this.#options.count,
      });
    } else this.#log.info("sharing the work", { members: live.length });
    return now;
  }

  #standFor(shards: ReadonlySet<number>, signal: AbortSignal): void {
    for (const [shard, { stop }] of this.#standing) if (!shards.has(shard)) stop.abort();
    for (const shard of shards) {
      if (this.#standing.has(shard)) continue;
      const stop = new AbortController();
      const ended = this.#stand(shard, AbortSignal.any([signal, stop.signal])).finally(() =>
        this.#standing.delete(shard),
      );
      this.#standing.set(shard, { stop, ended });
    }
  }

  async #stand(shard: number, signal: AbortSignal): Promise<void> {
    const { client, namespace, name, identity, leaseDuration = 15_000, retryPeriod = 3_000 } = this.#options;
    const lease = { namespace, name: `${name}-shard-${shard}`, leaseDuration, retryPeriod };
    const renewDeadline = Math.floor((leaseDuration * 2) / 3);
    const onLeading = (term: AbortSignal) => this.#hold(shard, term);
    try {
      await electLeader({ client, identity, ...lease, renewDeadline, onLeading, clock: this.#clock }, signal);
    } catch (error) {
      this.#log.error("a shard could not be held", { shard, reason: messageOf(error) });
    }
  }

  /** Works on a shard until the signal aborts and the work in its namespaces has ended. */
  async #hold(shard: number, signal: AbortSignal): Promise<void> {
    await this.#prepared(signal);
    if (signal.aborted) return;
    const holding = new HeldShard(this.#clock.now());
    this.#held.set(shard, holding);
    this.#changed();
    this.#log.info("working on a shard", { shard, held: this.#held.size });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#held.delete(shard);
    const drained = holding.close();
    this.#changed();
    const settled = new AbortController();
    this.#clock.sleep(DRAIN_REPORTED, settled.signal).then(
      () => this.#log.warn("work in a shard that is to be given up does not end", { shard }),
      () => {},
    );
    await drained.finally(() => settled.abort());
    this.#log.info("gave up a shard", { shard, held: this.#held.size });
  }

  /** Shards that are won within a moment share one preparation. */
  #prepared(signal: AbortSignal): Promise<void> {
    this.#nextPreparation ??= this.#prepare();
    return unlessAborted(this.#nextPreparation, signal).catch(() => {});
  }

  /** Awaits `beforeWork` until it succeeds, or this process ends. */
  async #prepare(): Promise<void> {
    const delayAfter = backoff({ base: 200, cap: 30_000 });
    for (let failures = 1; !this.#life.aborted; failures++) {
      try {
        await this.#clock.sleep(failures === 1 ? PREPARED_TOGETHER : delayAfter(failures), this.#life);
        this.#nextPreparation = undefined;
        await Promise.all([...this.#preparations].map((handler) => handler(this.#life)));
        return;
      } catch (error) {
        if (failures === 2) this.#log.warn("work on shards cannot begin", { reason: messageOf(error) });
      }
    }
  }

  #changed(): void {
    this.#heldGauge?.set(this.#held.size, { name: this.#options.name });
    for (const handler of this.#handlers) handler();
  }
}
