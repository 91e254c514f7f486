import type { Cluster } from "../contract/cluster.ts";
import { apiError, tooManyRequests } from "../errors/status.ts";
import { GROUP, mandatoryFlowObjects } from "./bootstrap.ts";
import { distinguisherOf, flowSchemaOf, inOrder, matches, type Digest, type FlowSchema } from "./classify.ts";
import { FlowMetrics } from "./flow-metrics.ts";
import { Level } from "./level.ts";
import { levelConfigOf, limitsOf, SERVER_SEATS } from "./limits.ts";
import type { Queue, WaitingRequest } from "./queues.ts";
import { OBJECTS_PER_SEAT, type Work } from "./work.ts";

/** How long a request waits for a seat at most: a quarter of the minute that kube-apiserver gives a request. */
const QUEUE_TIMEOUT = 15_000;
const RESOURCES = new Set(["flowschemas", "prioritylevelconfigurations"]);

/** A request's place. */
export interface Ticket {
  readonly schema: FlowSchema;
  readonly level: Level;
  /** Milliseconds that it waited. */
  waited: number;
  /** Gives the seats back; once is enough. */
  release(): void;
}

/** A request with its priority level: it may start, or waits until `seated` resolves (or throws 429). */
export interface Placed {
  readonly ticket: Ticket;
  readonly seated: Promise<void> | undefined;
}

/**
 * API priority and fairness of one logical cluster (KEP-1040): requests are classified by FlowSchemas into priority
 * levels, each of which has seats of the server's concurrency and queues for what finds none. A level may borrow what
 * others lend and do not use: at once, and given back as requests end, where kube-apiserver moves limits every ten
 * seconds.
 */
export class FlowControl {
  readonly #cluster: Cluster;
  readonly #levels = new Map<string, Level>();
  readonly #metrics: FlowMetrics;
  #schemas: readonly FlowSchema[] = [];
  #isStale = true;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#metrics = new FlowMetrics(cluster.metrics);
    cluster.changes.listen(({ resource }) => {
      if (RESOURCES.has(resource.plural)) this.#isStale = true;
    });
  }

  /**
   * Classifies a request and gives it seats, now or later. `gone` aborts a wait. Throws 429 when there is no place even
   * to wait.
   */
  place(digest: Digest, work: Work, gone: (cancel: () => void) => void): Placed {
    if (this.#isStale) this.#configure();
    const { schema, level } = this.#classify(digest);
    const seats = Math.min(level.widest, Math.ceil(work.objects / OBJECTS_PER_SEAT));
    this.#metrics.estimated(level, schema, seats);
    const ticket = this.#ticket(schema, level, seats);
    if (level.config.exempt || (level.queues.waiting === 0 && this.#hasRoom(level, seats))) {
      ticket.seat(undefined);
      return { ticket, seated: undefined };
    }
    const flow = `${schema.name}\0${distinguisherOf(schema, digest)}`;
    return { ticket, seated: this.#wait(ticket, flow, gone) };
  }

  /** Brings gauges up to date, before they are rendered. */
  updateGauges(): void {
    if (this.#isStale) this.#configure();
    const reserved = this.#reserved();
    for (const level of this.#levels.values()) {
      this.#metrics.updateLevel(level, Math.min(level.limits.upper, SERVER_SEATS - reserved + level.reserved));
    }
  }

  get levels(): readonly Level[] {
    if (this.#isStale) this.#configure();
    return [...this.#levels.values()].toSorted((a, b) => (a.config.name < b.config.name ? -1 : 1));
  }

  #classify(digest: Digest): { schema: FlowSchema; level: Level } {
    for (const schema of this.#schemas) {
      const level = this.#levels.get(schema.level);
      if (level && matches(schema, digest)) return { schema, level };
    }
    // Only for a user that is in neither system:authenticated nor system:unauthenticated.
    return this.#catchAll();
  }

  #catchAll(): { schema: FlowSchema; level: Level } {
    const schema = this.#schemas.at(-1);
    const level = this.#levels.get("catch-all");
    if (!schema || !level) throw apiError(500, "InternalError", "Internal error occurred: no flow schema matches");
    return { schema, level };
  }

  /** Takes the configuration from the stored objects; the mandatory ones that are not there are imagined. */
  #configure(): void {
    this.#isStale = false;
    const stored = [...this.#stored("prioritylevelconfigurations"), ...this.#stored("flowschemas")];
    const has = (kind: string, name: string): boolean =>
      stored.some((o) => o.kind === kind && o.metadata.name === name);
    const all = [...stored, ...mandatoryFlowObjects().filter((m) => !has(m.kind, m.metadata.name))];
    const configs = all.filter((o) => o.kind === "PriorityLevelConfiguration").map(levelConfigOf);
    const limits = limitsOf(configs);
    for (const config of configs) {
      const own = limits.get(config.name) ?? { nominal: 0, lower: 0, upper: 0 };
      const known = this.#levels.get(config.name);
      if (known) known.configure(config, own);
      else this.#levels.set(config.name, new Level(config, own));
    }
    for (const name of this.#levels.keys()) if (!limits.has(name)) this.#levels.delete(name);
    this.#schemas = all
      .filter((o) => o.kind === "FlowSchema")
      .map(flowSchemaOf)
      .filter((s) => this.#levels.has(s.level))
      .toSorted(inOrder);
  }

  #stored(plural: string) {
    const { name, store } = this.#cluster;
    return store.list({ cluster: name, resource: `${GROUP}/${plural}` }).items.map((i) => i.object);
  }

  #reserved(): number {
    let sum = 0;
    for (const level of this.#levels.values()) sum += level.reserved;
    return sum;
  }

  /**
   * True if `seats` more are within what the level does not lend, or free and within what it may borrow. One request at
   * a time continues however little there is, so that a level without seats is slow, not stuck.
   */
  #hasRoom(level: Level, seats: number): boolean {
    const after = level.seats + seats;
    if (after <= level.limits.lower || level.seats === 0) return true;
    if (after > level.limits.upper) return false;
    return this.#reserved() - level.reserved + after <= SERVER_SEATS;
  }

  #ticket(schema: FlowSchema, level: Level, seats: number): OpenTicket {
    const { clock } = this.#cluster;
    const arrived = clock.now();
    let seatedAt: number | undefined;
    let queue: Queue | undefined;
    const ticket: OpenTicket = {
      schema,
      level,
      seats,
      waited: 0,
      seat: (from) => {
        seatedAt = clock.now();
        queue = from;
        ticket.waited = seatedAt - arrived;
        level.count(schema, seats, 1);
        level.counted.dispatched += 1;
        this.#metrics.dispatched(level, schema, ticket.waited);
      },
      release: () => {
        if (seatedAt === undefined) return;
        const took = clock.now() - seatedAt;
        seatedAt = undefined;
        level.count(schema, seats, -1);
        this.#metrics.executed(level, schema, took);
        if (queue) level.queues.finished(queue, seats, took);
        this.#dispatch(level);
      },
    };
    return ticket;
  }

  #wait(ticket: OpenTicket, flow: string, gone: (cancel: () => void) => void): Promise<void> {
    const { level, schema, seats } = ticket;
    const { clock } = this.#cluster;
    if (!level.config.queuing) return Promise.reject(this.#refuse(ticket, "concurrency-limit"));
    const ended = new AbortController();
    return new Promise((resolve, reject) => {
      const request: WaitingRequest = {
        seats,
        dispatch: () => {
          ended.abort();
          ticket.seat(queue);
          resolve();
        },
      };
      const queue = level.queues.add(flow, request);
      if (!queue) return reject(this.#refuse(ticket, "queue-full"));
      this.#metrics.queued(level, schema, 1);
      const leave = (reason: "time-out" | "cancelled"): void => {
        if (!level.queues.remove(queue, request)) return;
        ended.abort();
        reject(this.#refuse(ticket, reason));
      };
      ended.signal.addEventListener("abort", () => this.#metrics.queued(level, schema, -1), { once: true });
      gone(() => leave("cancelled"));
      clock.sleep(QUEUE_TIMEOUT, ended.signal).then(
        () => leave("time-out"),
        () => {},
      );
      // Seats may be free though others wait: the one whose turn it is goes.
      this.#dispatch(level);
    });
  }

  #refuse({ level, schema }: OpenTicket, cause: string): Error {
    level.counted.rejected += 1;
    if (cause === "time-out") level.counted.timedOut += 1;
    if (cause === "cancelled") level.counted.cancelled += 1;
    this.#metrics.rejected(level, schema, cause);
    return tooManyRequests();
  }

  /** Seats those who wait: of this level first, then of others, which may borrow what it no longer uses. */
  #dispatch(first: Level): void {
    this.#drain(first);
    for (const level of this.#levels.values()) if (level !== first && level.queues.waiting > 0) this.#drain(level);
  }

  #drain(level: Level): void {
    const { queues } = level;
    while (queues.waiting > 0) {
      const queue = queues.next();
      const head = queue?.waiting[0];
      if (!queue || !head || !this.#hasRoom(level, head.seats)) return;
      queues.take(queue)?.dispatch();
    }
  }
}

interface OpenTicket extends Ticket {
  readonly seats: number;
  /** Takes the seats, at dispatch from a queue or straight away. */
  seat(from: Queue | undefined): void;
}
