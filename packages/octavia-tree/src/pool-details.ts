import type { Cloud, HealthMonitor, LoadBalancer, Member, MemberCreate, Pool } from "@causeway/openstack";

/** A pool with what its list entry does not have. */
export interface ObservedPool {
  readonly pool: Pool;
  readonly members: readonly Member[];
  readonly monitor: HealthMonitor | undefined;
}

/**
 * What an earlier process knew of pools without a monitor; entries are texts that differ whenever the pool or one of
 * its members was changed.
 */
export interface PoolRecord {
  /** The members that the pool had when its entry was this one; undefined: not known. */
  recall(poolId: string, entry: string): readonly Member[] | undefined;
  keep(poolId: string, entry: string, members: readonly Member[]): void;
  drop(poolId: string): void;
}

interface Kept {
  readonly entry: string | undefined;
  readonly members: readonly Member[];
  readonly monitor: HealthMonitor | undefined;
  /**
   * The members are as we wrote them, when the cache had this of the pool: the next list entry results from that write
   * if it has as many members. "none": there was no pool yet.
   */
  readonly written?: Pool | "none";
  /**
   * The load balancer's time of change when that write was first seen to be done: a pool that is younger was changed
   * since.
   */
  readonly settled?: string | null;
}

/**
 * Members and monitors of pools, which the list of all pools omits. Each is read once, and again when the pool's own
 * entry (its member ids, its monitor, its time of change) has changed since. What we wrote is not read, nor what a
 * record has of that entry.
 */
export class PoolDetails {
  readonly #cloud: Cloud;
  readonly #record: PoolRecord | undefined;
  readonly #kept = new Map<string, Kept>();

  constructor(cloud: Cloud, record?: PoolRecord) {
    this.#cloud = cloud;
    this.#record = record;
  }

  /** The load balancer is ACTIVE; undefined: it is expected to be, and no list has shown it yet. */
  async of(pool: Pool, lb: Pick<LoadBalancer, "updated_at"> | undefined, signal: AbortSignal): Promise<ObservedPool> {
    const entry = entryOf(pool);
    const before = lb ? this.#settled(pool, lb) : this.#kept.get(pool.id);
    if (before && isKnown(before, pool, entry)) {
      const { members, monitor, written } = before;
      if (lb && written !== pool && !isUnsettled(pool)) this.#keep(pool, { entry, members, monitor });
      return { pool, members, monitor };
    }
    const monitorId = monitorOf(pool);
    const recalled = before || monitorId !== undefined ? undefined : this.#recall(pool, entry);
    if (recalled) return { pool, members: recalled, monitor: undefined };
    const { loadBalancing } = this.#cloud;
    const [members, monitor] = await Promise.all([
      pool.members.length === 0 ? [] : loadBalancing.members(pool.id).all({}, { signal }),
      monitorId === undefined ? undefined : loadBalancing.healthMonitors.find(monitorId, { signal }),
    ]);
    this.#keep(pool, { entry, members, monitor });
    return { pool, members, monitor };
  }

  /** What an earlier process knew, if the pool is as it was then. */
  #recall(pool: Pool, entry: string): readonly Member[] | undefined {
    const members = isActive(pool) ? this.#record?.recall(pool.id, entry) : undefined;
    if (members?.length !== pool.members.length) return undefined;
    this.#kept.set(pool.id, { entry, members, monitor: undefined });
    return members;
  }

  #keep(pool: Pool, kept: Kept & { readonly entry: string }): void {
    const before = this.#kept.get(pool.id);
    this.#kept.set(pool.id, kept);
    // At each read of a pool that rests, the record has it.
    if (before?.entry === kept.entry && before.written === undefined) return;
    if (isActive(pool) && kept.monitor === undefined && kept.members.every(isActive))
      this.#record?.keep(pool.id, kept.entry, kept.members);
    else this.#record?.drop(pool.id);
  }

  /** What is kept of the pool; of a write of ours, with when it was done. */
  #settled({ id }: Pool, { updated_at }: Pick<LoadBalancer, "updated_at">): Kept | undefined {
    const before = this.#kept.get(id);
    if (before?.written === undefined || before.settled !== undefined) return before;
    const kept = { ...before, settled: updated_at };
    this.#kept.set(id, kept);
    return kept;
  }

  /** The cloud took these as all members of the pool. */
  wrote({ pool, monitor }: ObservedPool, members: readonly Member[]): void {
    this.#kept.set(pool.id, { entry: entryOf(pool), members, monitor, written: pool });
  }

  /** Reads the pools from the response to a create of the whole tree. */
  made(lb: LoadBalancer): void {
    for (const pool of lb.pools as readonly Partial<MadePool>[]) {
      const { id, members, healthmonitor } = pool;
      const whole = members?.every((m) => m.address !== undefined && m.protocol_port !== undefined) === true;
      // A provider may leave the monitor of a create unfinished: it is read.
      if (id === undefined || !whole || (healthmonitor ?? null) !== null) continue;
      const settled = members.map((member) => ({ ...member, provisioning_status: "ACTIVE" as const }));
      this.#kept.set(id, { entry: undefined, members: settled, monitor: undefined, written: "none" });
    }
  }

  /** After a write of ours: what was read before is old, whatever the entry says. */
  forget(poolId: string): void {
    this.#kept.delete(poolId);
    this.#record?.drop(poolId);
  }
}

/** Octavia leaves the field out where there is none. */
function monitorOf(pool: Pool): string | undefined {
  const { healthmonitor_id: id } = pool as { healthmonitor_id?: string | null };
  return id ?? undefined;
}

function entryOf(pool: Pool): string {
  return JSON.stringify([pool.updated_at, monitorOf(pool) ?? null, pool.members.map((m) => m.id).sort()]);
}

/** As Octavia answers the create of a whole tree. */
interface MadePool {
  readonly id: string;
  readonly members: readonly Member[];
  readonly healthmonitor: object | null;
}

function isActive({ provisioning_status: status }: Partial<Pool | Member>): boolean {
  return status === "ACTIVE";
}

function isUnsettled({ provisioning_status: status }: Partial<Pool>): boolean {
  return status?.startsWith("PENDING_") === true;
}

function isKnown(before: Kept, pool: Pool, entry: string): boolean {
  const { written, members, monitor, settled } = before;
  if (written === undefined) return before.entry === entry;
  // A list from before the load balancer was ACTIVE shows what came next to what went.
  if (written === pool || isUnsettled(pool)) return true;
  const changedSince = (pool.updated_at ?? "") > (settled ?? "\uffff");
  return !changedSince && pool.members.length === members.length && monitorOf(pool) === monitor?.id;
}

/** As they are after a batch of `wanted`. Those that are new have no id ("") until they are read. */
export function asWritten(before: readonly Member[], wanted: readonly MemberCreate[]): Member[] {
  const known = new Map(before.map((member) => [place(member), member]));
  const { project_id = "", provisioning_status = "ACTIVE", operating_status = "NO_MONITOR" } = before[0] ?? {};
  return wanted.map((member) => ({
    ...(known.get(place(member)) ?? { id: "", project_id, provisioning_status, operating_status }),
    admin_state_up: true,
    created_at: "",
    updated_at: null,
    monitor_address: null,
    monitor_port: null,
    subnet_id: null,
    weight: 1,
    name: "",
    tags: [],
    ...member,
  }));
}

function place({ address, protocol_port }: { address: string; protocol_port: number }): string {
  return `${address} ${protocol_port}`;
}
