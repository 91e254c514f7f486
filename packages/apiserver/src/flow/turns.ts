import { performance } from "node:perf_hooks";
import { tooManyRequests } from "../errors/status.ts";
import { FairQueue } from "./fair-queue.ts";
import type { ThreadTime } from "../contract/thread-time.ts";

/**
 * Who may use the thread next. All logical clusters share one thread, and a wide request (a long list) keeps it for as
 * long as it takes. So at most one wide request begins in a turn of the event loop: between two of them the loop reads
 * what others sent meanwhile, and of several clusters that wait, the one that has had least goes first (start-time fair
 * queueing over the width of requests). Of narrow requests a cluster may begin `SHARE` in one turn; more wait for the
 * next. Of the users of one cluster who wait, the one that has had least goes first. The management cluster counts for
 * a quarter of what it takes. No request waits while the thread is free.
 *
 * A turn of the loop accepts one connection. So after a wide request the next one waits until some turns brought
 * nothing new, or for as long as the last one took: else a client that is not connected yet would wait behind every
 * list of those that are.
 */
export class Turns {
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants with something to undo or to dispatch at the end of this turn. */
  readonly #touched = new Set<Tenant>();
  readonly #schedule: (work: () => void) => void;
  readonly #now: () => number;
  readonly #enough: number;
  #wideTaken = false;
  #armed = false;
  #thread: Pick<ThreadTime, "usedBy"> | undefined;
  /** Whose narrow request came last, and the last that was another's. */
  #last: Seen = NEVER;
  #other: Seen = NEVER;
  /** The virtual time at which the last wide request began. */
  #virtual = 0;
  /** Turns in a row that brought nothing new. */
  #quiet = 0;
  /** When the last wide request began, and until when the next waits at most; undefined when it need not. */
  #began = 0;
  #until: number | undefined;

  /**
   * `schedule` calls back at the end of the turn, `now` is in milliseconds, `enough` how many quiet turns are; tests
   * have their own.
   */
  constructor(
    schedule: (work: () => void) => void = setImmediate,
    now: () => number = () => performance.now(),
    enough: number = ENOUGH,
  ) {
    this.#schedule = schedule;
    this.#now = now;
    this.#enough = enough;
  }

  /**
   * Takes what clusters use of the thread from a measure, so that who takes long for each request begins fewer in a
   * turn.
   */
  measuredBy(thread: Pick<ThreadTime, "usedBy">): this {
    this.#thread = thread;
    return this;
  }

  /** Something new came: a connection. */
  noticed(): void {
    this.#quiet = 0;
  }

  /**
   * Undefined when the request may continue at once, else what to wait for. `width` is the number of objects it reads.
   */
  take(cluster: string, width: number, user = ""): Promise<void> | undefined {
    const tenant = this.#tenant(cluster);
    this.#touched.add(tenant);
    this.#arm();
    if (width > WIDE) return this.#takeWide(tenant, width, user);
    this.#quiet = 0;
    this.#saw(cluster, user);
    if (tenant.narrow.length === 0 && tenant.begun < this.#shareOf(tenant)) {
      tenant.begun += 1;
      return undefined;
    }
    if (isFull(tenant.narrow, user)) throw tooManyRequests();
    return new Promise((resolve) => tenant.narrow.push(user, 1, resolve));
  }

  /**
   * Narrow requests that a cluster may begin in a turn: as many as it had time for, while other clusters, or other
   * users of it, want the thread too.
   */
  #shareOf(tenant: Tenant): number {
    if (tenant.cost === 0 || !this.#hasOthers(tenant)) return SHARE;
    return Math.min(SHARE, Math.max(1, Math.floor((TURN_TIME * weightOf(tenant)) / tenant.cost)));
  }

  /** Whether not all recent requests are of one user of this cluster. */
  #hasOthers({ cluster }: Tenant): boolean {
    const since = this.#now() - RECENT;
    if (this.#last.at >= since && this.#last.cluster !== cluster) return true;
    return this.#other.at >= since;
  }

  #saw(cluster: string, user: string): void {
    const { cluster: before, user: by } = this.#last;
    if (before !== cluster || by !== user) this.#other = this.#last;
    this.#last = { cluster, user, at: this.#now() };
  }

  /** What a narrow request of a cluster costs: an average that follows what was measured. */
  #measure(tenant: Tenant): void {
    if (!this.#thread) return;
    const used = this.#thread.usedBy(tenant.cluster);
    const spent = used - tenant.used;
    tenant.unmeasured += tenant.begun;
    if (tenant.unmeasured === 0 || spent === 0) return;
    tenant.cost += (spent / tenant.unmeasured - tenant.cost) / 4;
    tenant.used = used;
    tenant.unmeasured = 0;
  }

  /** Forgets a cluster that is served no longer. */
  forget(cluster: string): void {
    const tenant = this.#tenants.get(cluster);
    this.#tenants.delete(cluster);
    if (!tenant) return;
    for (const queue of [tenant.narrow, tenant.wide]) while (queue.length > 0) queue.shift()?.();
  }

  #tenant(cluster: string): Tenant {
    let tenant = this.#tenants.get(cluster);
    if (tenant === undefined) {
      const used = this.#thread?.usedBy(cluster) ?? 0;
      tenant = {
        cluster,
        begun: 0,
        virtual: 0,
        narrow: new FairQueue(),
        wide: new FairQueue(),
        cost: 0,
        used,
        unmeasured: 0,
      };
      this.#tenants.set(cluster, tenant);
    }
    return tenant;
  }

  #takeWide(tenant: Tenant, width: number, user: string): Promise<void> | undefined {
    if (!this.#wideTaken && this.#until === undefined && !this.#someWideWaits()) {
      this.#begin(tenant, width);
      return undefined;
    }
    // Who comes back after a pause has saved nothing up.
    if (tenant.wide.length === 0) tenant.virtual = Math.max(tenant.virtual, this.#virtual);
    return new Promise((resolve) => tenant.wide.push(user, width, resolve));
  }

  #begin(tenant: Tenant, width: number): void {
    this.#wideTaken = true;
    this.#began = this.#now();
    this.#quiet = 0;
    tenant.virtual = Math.max(tenant.virtual, this.#virtual);
    this.#virtual = tenant.virtual;
    tenant.virtual += width / weightOf(tenant);
  }

  #someWideWaits(): boolean {
    for (const tenant of this.#touched) if (tenant.wide.length > 0) return true;
    return false;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    this.#schedule(() => this.#next());
  }

  #next(): void {
    this.#armed = false;
    const now = this.#now();
    if (this.#wideTaken) this.#until = now + (now - this.#began);
    this.#wideTaken = false;
    const first = this.#freeNarrow();
    if (this.#until !== undefined && (this.#quiet >= this.#enough || now >= this.#until)) this.#until = undefined;
    this.#quiet += 1;
    const head = this.#until === undefined ? first?.wide.take() : undefined;
    if (first && head) {
      this.#begin(first, head.width);
      head.item();
    }
    if (this.#touched.size > 0 || this.#until !== undefined) this.#arm();
  }

  /** Lets narrow requests continue that the last turn had no room for; answers whose turn it is for a wide one. */
  #freeNarrow(): Tenant | undefined {
    let first: Tenant | undefined;
    for (const tenant of this.#touched) {
      this.#measure(tenant);
      tenant.begun = Math.min(tenant.narrow.length, this.#shareOf(tenant));
      for (let i = 0; i < tenant.begun; i += 1) tenant.narrow.shift()?.();
      if (tenant.begun > 0) this.#quiet = 0;
      if (tenant.wide.length === 0) {
        if (tenant.begun === 0) this.#touched.delete(tenant);
      } else if (first === undefined || tenant.virtual < first.virtual) first = tenant;
    }
    return first;
  }
}

interface Tenant {
  /** Narrow requests begun in this turn. */
  begun: number;
  virtual: number;
  readonly cluster: string;
  /** Milliseconds of the thread that a narrow request takes. */
  cost: number;
  /** What the thread was used for when it was measured last, and the requests begun since. */
  used: number;
  unmeasured: number;
  readonly narrow: FairQueue<() => void>;
  readonly wide: FairQueue<() => void>;
}

/** Whose request came, and when. */
interface Seen {
  readonly cluster: string;
  readonly user: string;
  readonly at: number;
}

const NEVER: Seen = { cluster: "", user: "", at: -Infinity };
/** How much more of the thread the management cluster gets than a tenant, while both want it. */
const MANAGEMENT_WEIGHT = 4;

function weightOf({ cluster }: Tenant): number {
  return cluster === "" ? MANAGEMENT_WEIGHT : 1;
}

/** Of a full queue, users who have less than their part of it may still add to it. */
function isFull(queue: FairQueue<unknown>, user: string): boolean {
  return queue.length >= LONGEST_QUEUE && queue.lengthOf(user) >= LONGEST_QUEUE / (queue.users + 1);
}

/** Objects that a narrow request reads at most. */
const WIDE = 100;
const SHARE = 256;
/** Milliseconds of a turn that the narrow requests of one cluster may take, while others were seen within RECENT. */
const TURN_TIME = 10;
const RECENT = 1000;
/** Narrow requests of a cluster that wait; of more, those of the users who have most are refused. */
const LONGEST_QUEUE = 2000;
/** Turns that bring nothing new take microseconds. */
const ENOUGH = 10;
