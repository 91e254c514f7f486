import type { Clock } from "@causeway/foundation";
import { createSharedWork, runController, type ObjectKey, type SharedWork, type Source } from "@causeway/kubernetes";
import type { Leases } from "@causeway/kubernetes/testing";
import type { CloudWatch } from "@causeway/openstack";
import type { Estate, Tenant } from "./estate.ts";
import type { Record } from "./record.ts";

/** Milliseconds of processor time. */
export interface Costs {
  /** Of a reconcile that finds nothing to do. */
  readonly check: number;
  /** Of one that changes something. */
  readonly change: number;
}

export interface ReplicaOptions {
  readonly name: string;
  readonly estate: Estate;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly costs: Costs;
  readonly shards: number;
  readonly record: Record;
}

/** One thread: what it does takes its turn. */
class Processor {
  used = 0;
  readonly #clock: Clock;
  #freeAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  use(milliseconds: number): Promise<void> {
    this.used += milliseconds;
    this.#freeAt = Math.max(this.#freeAt, this.#clock.now()) + milliseconds;
    return this.#clock.sleep(this.#freeAt - this.#clock.now());
  }
}

/**
 * A process of the provider: the real shards, queues, controllers and informers of clouds. Reconciles are played: they
 * take processor time, read the informers, and replace the servers that are to be replaced.
 */
export class Replica {
  readonly shards: SharedWork;
  readonly processor: Processor;
  readonly #options: ReplicaOptions;
  readonly #stop = new AbortController();
  readonly #watches = new Map<string, CloudWatch>();
  readonly #enqueue = new Map<string, (key: ObjectKey) => void>();
  #isDead = false;

  constructor(options: ReplicaOptions) {
    const { clock, leases, name, shards } = options;
    this.#options = options;
    this.processor = new Processor(clock);
    const client = leases.client(() => (this.#isDead ? new Promise<void>(() => {}) : clock.sleep(5)));
    this.shards = createSharedWork({ client, namespace: "capo", name: "capo", identity: name, count: shards, clock });
  }

  start(): void {
    const { clock, estate } = this.#options;
    const { signal } = this.#stop;
    void this.shards.run(signal);
    this.shards.onChange(() => void this.#closeOthers());
    for (const kind of ["clusters", "machines"] as const) {
      const source: Source = (enqueue) => {
        this.#enqueue.set(kind, enqueue);
        for (const { namespace, [kind]: names } of estate.tenants.values())
          if (this.shards.owns(namespace)) for (const name of names) enqueue({ namespace, name });
        return () => this.#enqueue.delete(kind);
      };
      const reconcile = (key: ObjectKey, stop: AbortSignal) => this.#reconcile(key, stop);
      void runController({ name: kind, reconcile, sources: [this.#noted(source)], shards: this.shards, clock }, signal);
    }
  }

  /** An object of the management cluster changed: every process sees it. */
  changed(key: ObjectKey): void {
    if (!this.shards.owns(key.namespace)) return;
    this.#enqueue.get("machines")?.(key);
  }

  /** Ends it at once; nothing is released. */
  kill(): void {
    this.#isDead = true;
    this.#stop.abort();
    for (const watch of this.#watches.values()) void watch.close();
  }

  #noted(source: Source): Source {
    return (enqueue) =>
      source((key) => {
        if (this.shards.owns(key.namespace)) this.#options.record.queued(key);
        enqueue(key);
      });
  }

  async #reconcile(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const { estate, record, costs } = this.#options;
    const tenant = estate.tenants.get(key.namespace);
    if (!tenant) return;
    record.begun(key);
    const watch = this.#watch(tenant);
    await this.#listed(tenant, watch, signal);
    await this.processor.use(costs.check);
    signal.throwIfAborted();
    if (record.takeReplacement(key)) {
      await this.processor.use(costs.change);
      const before = watch.servers.byIndex("name", key.name)[0];
      const server = await tenant.replace(key.name);
      if (before) watch.servers.forget(before.id);
      watch.servers.observe(server as never);
    }
    const isMachine = tenant.servers.has(key.name);
    if (!isMachine || watch.servers.byIndex("name", key.name)[0]?.status === "ACTIVE") record.done(key);
  }

  #watch(tenant: Tenant): CloudWatch {
    const known = this.#watches.get(tenant.namespace);
    if (known) return known;
    const watch = tenant.watch(this.#options.clock);
    this.#watches.set(tenant.namespace, watch);
    watch.servers.onChange(({ object, previous }) => {
      if (previous !== undefined) this.changed({ namespace: tenant.namespace, name: object.name });
    });
    return watch;
  }

  /** As the provider's sessions: a list that began before the namespace came here is read again. */
  async #listed(tenant: Tenant, watch: CloudWatch, signal: AbortSignal): Promise<void> {
    const since = this.shards.since(tenant.namespace) ?? 0;
    await Promise.all(
      tenant.needed(watch).map(async (informer) => {
        await informer.start(signal);
        if (informer.listedAt <= since) await informer.refresh(signal);
      }),
    );
  }

  async #closeOthers(): Promise<void> {
    for (const [namespace, watch] of this.#watches) {
      if (this.shards.owns(namespace)) continue;
      this.#watches.delete(namespace);
      await watch.close();
    }
  }
}
