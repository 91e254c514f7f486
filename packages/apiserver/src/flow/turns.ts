import { performance } from "node:perf_hooks";
import { tooManyRequests } from "../server/status.ts";
import type { ThreadTime } from "./thread-time.ts";

/**
 * Who may use the thread next. All logical clusters share one thread, and a wide request (a long list) keeps it for as long as it takes.
 * So at most one wide request begins in a turn of the event loop: between two of them the loop reads what others sent meanwhile, and of
 * several clusters that wait, the one that has had least goes first (start-time fair queueing over the width of requests). Of narrow
 * requests a cluster may begin `SHARE` in one turn; more wait for the next. Nobody is refused here, and nobody waits while the
 * thread is free.
 *
 * A turn of the loop accepts one connection. So after a wide request the next one waits until some turns brought nothing new, or for as long
 * as the last one took: else a client that is not connected yet would stand behind every list of those that are.
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
  #last: Tenant | undefined;
  #other: Tenant | undefined;
  /** The virtual time at which the last wide request began. */
  #virtual = 0;
  /** Turns in a row that brought nothing new. */
  #quiet = 0;
  /** When the last wide request began, and until when the next waits at most; undefined when it need not. */
  #began = 0;
  #until: number | undefined;

  /** `schedule` calls back at the end of the turn, `now` is in milliseconds, `enough` how many quiet turns are; tests have their own. */
  constructor(
    schedule: (work: () => void) => void = setImmediate,
    now: () => number = () => performance.now(),
    enough: number = ENOUGH,
  ) {
    this.#schedule = schedule;
    this.#now = now;
    this.#enough = enough;
  }

  /** Takes what clusters use of the thread from a measure, so that who takes long for each request begins fewer in a turn. */
  measuredBy(thread: Pick<ThreadTime, "usedBy">): this {
    this.#thread = thread;
    return this;
  }

  /** Something new came: a connection. */
  noticed(): void {
    this.#quiet = 0;
  }

  /** Undefined when the request may go on at once, else what to wait for. `width` is the number of objects it reads. */
  take(cluster: string, width: number): Promise<void> | undefined {
    const tenant = this.#tenant(cluster);
    this.#touched.add(tenant);
    this.#arm();
    if (width > WIDE) return this.#takeWide(tenant, width);
    this.#quiet = 0;
    this.#saw(tenant);
    if (tenant.narrow.length === 0 && tenant.begun < this.#shareOf(tenant)) {
      tenant.begun += 1;
      return undefined;
    }
    if (tenant.narrow.length >= LONGEST_QUEUE) throw tooManyRequests();
    return new Promise((resolve) => tenant.narrow.push(resolve));
  }

  /** Narrow requests that a cluster may begin in a turn: as many as it had time for, while others want the thread too. */
  #shareOf(tenant: Tenant): number {
    if (tenant.cost === 0 || !this.#hasOthers(tenant)) return SHARE;
    return Math.min(SHARE, Math.max(1, Math.floor(TURN_TIME / tenant.cost)));
  }

  #hasOthers(tenant: Tenant): boolean {
    const other = this.#last === tenant ? this.#other : this.#last;
    return other !== undefined && other.seen >= this.#now() - RECENT;
  }

  #saw(tenant: Tenant): void {
    if (this.#last !== tenant) this.#other = this.#last;
    this.#last = tenant;
    tenant.seen = this.#now();
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
    for (const resolve of tenant.narrow.splice(0)) resolve();
    for (const { resolve } of tenant.wide.splice(0)) resolve();
  }

  #tenant(cluster: string): Tenant {
    let tenant = this.#tenants.get(cluster);
    if (tenant === undefined) {
      const used = this.#thread?.usedBy(cluster) ?? 0;
      tenant = { cluster, begun: 0, virtual: 0, narrow: [], wide: [], seen: -Infinity, cost: 0, used, unmeasured: 0 };
      this.#tenants.set(cluster, tenant);
    }
    return tenant;
  }

  #takeWide(tenant: Tenant, width: number): Promise<void> | undefined {
    if (!this.#wideTaken && this.#until === undefined && !this.#someWideWaits()) {
      this.#begin(tenant, width);
      return undefined;
    }
    // Who comes back after a pause has saved nothing up.
    if (tenant.wide.length === 0) tenant.virtual = Math.max(tenant.virtual, this.#virtual);
    return new Promise((resolve) => tenant.wide.push({ width, resolve }));
  }

  #begin(tenant: Tenant, width: number): void {
    this.#wideTaken = true;
    this.#began = this.#now();
    this.#quiet = 0;
    tenant.virtual = Math.max(tenant.virtual, this.#virtual);
    this.#virtual = tenant.virtual;
    tenant.virtual += width;
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
    const head = this.#until === undefined ? first?.wide.shift() : undefined;
    if (first && head) {
      this.#begin(first, head.width);
      head.resolve();
    }
    if (this.#touched.size > 0 || this.#until !== undefined) this.#arm();
  }

  /** Lets narrow requests go on that the last turn had no room for; answers whose turn it is for a wide one. */
  #freeNarrow(): Tenant | undefined {
    let first: Tenant | undefined;
    for (const tenant of this.#touched) {
      this.#measure(tenant);
      const freed = tenant.narrow.splice(0, this.#shareOf(tenant));
      tenant.begun = freed.length;
      for (const resolve of freed) resolve();
      if (freed.length > 0) this.#quiet = 0;
      if (tenant.wide.length === 0) {
        if (freed.length === 0) this.#touched.delete(tenant);
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
  /** When its last narrow request came. */
  seen: number;
  /** Milliseconds of the thread that a narrow request takes. */
  cost: number;
  /** What the thread was used for when it was measured last, and the requests begun since. */
  used: number;
  unmeasured: number;
  readonly narrow: (() => void)[];
  readonly wide: { readonly width: number; readonly resolve: () => void }[];
}

/** Objects that a narrow request reads at most. */
const WIDE = 100;
const SHARE = 256;
/** Milliseconds of a turn that the narrow requests of one cluster may take, while others were seen within RECENT. */
const TURN_TIME = 10;
const RECENT = 1000;
/** Narrow requests of a cluster that wait; more are refused. */
const LONGEST_QUEUE = 2000;
/** Turns that bring nothing new take microseconds. */
const ENOUGH = 10;
