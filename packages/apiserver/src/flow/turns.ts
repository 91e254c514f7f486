import { performance } from "node:perf_hooks";

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
    if (tenant.narrow.length === 0 && tenant.begun < SHARE) {
      tenant.begun += 1;
      return undefined;
    }
    return new Promise((resolve) => tenant.narrow.push(resolve));
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
      tenant = { begun: 0, virtual: 0, narrow: [], wide: [] };
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
      const freed = tenant.narrow.splice(0, SHARE);
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
  readonly narrow: (() => void)[];
  readonly wide: { readonly width: number; readonly resolve: () => void }[];
}

/** Objects that a narrow request reads at most. */
const WIDE = 100;
const SHARE = 256;
/** Turns that bring nothing new take microseconds. */
const ENOUGH = 10;
