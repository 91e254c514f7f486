/**
 * Who may use the thread next. All logical clusters share one thread, and a wide request (a long list) keeps it for as long as it takes.
 * So at most one wide request begins in a turn of the event loop: between two of them the loop reads what others sent meanwhile, and of
 * several clusters that wait, the one that has had least goes first (start-time fair queueing over the width of requests). Of narrow
 * requests a cluster may begin `SHARE` in one turn; more wait for the next. Nobody is refused here, and nobody waits while the
 * thread is free.
 */
export class Turns {
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants with something to undo or to dispatch at the end of this turn. */
  readonly #touched = new Set<Tenant>();
  readonly #schedule: (work: () => void) => void;
  #wideTaken = false;
  #armed = false;
  /** The virtual time at which the last wide request began. */
  #virtual = 0;

  /** `schedule` calls back at the end of the turn; tests have their own. */
  constructor(schedule: (work: () => void) => void = setImmediate) {
    this.#schedule = schedule;
  }

  /** Undefined when the request may go on at once, else what to wait for. `width` is the number of objects it reads. */
  take(cluster: string, width: number): Promise<void> | undefined {
    const tenant = this.#tenant(cluster);
    this.#touched.add(tenant);
    this.#arm();
    if (width > WIDE) return this.#takeWide(tenant, width);
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
    if (!this.#wideTaken && !this.#someWideWaits()) {
      this.#begin(tenant, width);
      return undefined;
    }
    // Who comes back after a pause has saved nothing up.
    if (tenant.wide.length === 0) tenant.virtual = Math.max(tenant.virtual, this.#virtual);
    return new Promise((resolve) => tenant.wide.push({ width, resolve }));
  }

  #begin(tenant: Tenant, width: number): void {
    this.#wideTaken = true;
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
    this.#wideTaken = false;
    let first: Tenant | undefined;
    for (const tenant of this.#touched) {
      const freed = tenant.narrow.splice(0, SHARE);
      tenant.begun = freed.length;
      for (const resolve of freed) resolve();
      if (tenant.wide.length === 0) {
        if (freed.length === 0) this.#touched.delete(tenant);
      } else if (first === undefined || tenant.virtual < first.virtual) first = tenant;
    }
    const head = first?.wide.shift();
    if (first && head) {
      this.#begin(first, head.width);
      head.resolve();
    }
    if (this.#touched.size > 0) this.#arm();
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
