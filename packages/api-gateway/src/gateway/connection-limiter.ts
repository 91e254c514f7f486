/** Who may hold how many connections. Pure but for its own counts. */
export interface Limits {
  /** Connections of all tenants together. */
  readonly total: number;
  /** Connections of one tenant. */
  readonly perTenant: number;
  /** Connections whose tenant is not known yet. */
  readonly pending: number;
}

/** A connection that can be ended to make room. */
export interface Held {
  end(reason: string): void;
}

/** Whether a connection may be relayed, and else which limit it exceeds. */
export type Admission = { readonly admitted: true } | { readonly admitted: false; readonly reason: "tenant" | "total" };

/**
 * Counts connections by tenant. When all together are too many, the tenant with the most gives one up: the newest,
 * since watches are old. When one tenant's are too many, the client address with the most of them does, since a
 * tenant's name is enough to connect. Those whose tenant is not known yet are counted by the client's address, and when
 * they are too many, the address with the most gives up its oldest: a client that sends its ClientHello is never the
 * oldest for long.
 */
export class ConnectionLimiter {
  readonly #limits: Limits;
  readonly #tenants = new Map<string, Set<Held>>();
  /** By tenant, and by the client's address. */
  readonly #sources = new Map<string, Map<string, Set<Held>>>();
  readonly #pending = new Map<string, Set<Held>>();
  #total = 0;
  #waiting = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Connections by tenant. */
  *tenants(): Iterable<readonly [tenant: string, connections: number]> {
    for (const [tenant, held] of this.#tenants) yield [tenant, held.size];
  }

  arrive(source: string, held: Held): void {
    if (this.#waiting >= this.#limits.pending) first(largest(this.#pending))?.end("pending");
    this.#waiting += add(this.#pending, source, held);
  }

  /** Its tenant is known, or it ended. */
  leavePending(source: string, held: Held): void {
    this.#waiting -= remove(this.#pending, source, held);
  }

  admit(tenant: string, source: string, held: Held): Admission {
    const sources = this.#sources.get(tenant) ?? new Map<string, Set<Held>>();
    if ((this.#tenants.get(tenant)?.size ?? 0) >= this.#limits.perTenant) {
      if (!makeRoom(sources, sources.get(source)?.size ?? 0, "tenant")) return { admitted: false, reason: "tenant" };
    }
    if (this.#total >= this.#limits.total) {
      const own = this.#tenants.get(tenant)?.size ?? 0;
      if (!makeRoom(this.#tenants, own, "total")) return { admitted: false, reason: "total" };
    }
    this.#total += add(this.#tenants, tenant, held);
    add(sources, source, held);
    this.#sources.set(tenant, sources);
    return { admitted: true };
  }

  leave(tenant: string, source: string, held: Held): void {
    this.#total -= remove(this.#tenants, tenant, held);
    const sources = this.#sources.get(tenant);
    if (sources === undefined) return;
    remove(sources, source, held);
    if (sources.size === 0) this.#sources.delete(tenant);
  }
}

/** The one with the most gives up its newest. Between equals nothing is closed: they would take turns without end. */
function makeRoom(all: ReadonlyMap<string, Set<Held>>, own: number, reason: string): boolean {
  const most = largest(all);
  if (most === undefined || most.size <= own + 1) return false;
  last(most)?.end(reason);
  return true;
}

function add(all: Map<string, Set<Held>>, key: string, held: Held): number {
  const known = all.get(key) ?? new Set();
  all.set(key, known.add(held));
  return 1;
}

function remove(all: Map<string, Set<Held>>, key: string, held: Held): number {
  const known = all.get(key);
  if (known === undefined || !known.delete(held)) return 0;
  if (known.size === 0) all.delete(key);
  return 1;
}

function largest(all: ReadonlyMap<string, Set<Held>>): Set<Held> | undefined {
  let found: Set<Held> | undefined;
  for (const each of all.values()) if (each.size > (found?.size ?? 0)) found = each;
  return found;
}

function first(held: ReadonlySet<Held> | undefined): Held | undefined {
  return held?.values().next().value;
}

function last(held: ReadonlySet<Held>): Held | undefined {
  return [...held].at(-1);
}
