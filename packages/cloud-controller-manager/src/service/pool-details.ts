import type { Cloud, HealthMonitor, Member, Pool } from "@causeway/openstack";

/** A pool with what its list entry does not tell. */
export interface ObservedPool {
  readonly pool: Pool;
  readonly members: readonly Member[];
  readonly monitor: HealthMonitor | undefined;
}

interface Kept {
  readonly entry: string;
  readonly members: readonly Member[];
  readonly monitor: HealthMonitor | undefined;
}

/**
 * Members and monitors of pools, which no list of all pools tells. Each is read once, and anew when the pool's own entry
 * (its member ids, its monitor, its time of change) is another than then.
 */
export class PoolDetails {
  readonly #cloud: Cloud;
  readonly #kept = new Map<string, Kept>();

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  async of(pool: Pool, signal: AbortSignal): Promise<ObservedPool> {
    const entry = entryOf(pool);
    const before = this.#kept.get(pool.id);
    if (before?.entry === entry) return { pool, members: before.members, monitor: before.monitor };
    const { loadBalancing } = this.#cloud;
    const monitorId = monitorOf(pool);
    const [members, monitor] = await Promise.all([
      pool.members.length === 0 ? [] : loadBalancing.members(pool.id).all({}, { signal }),
      monitorId === undefined ? undefined : loadBalancing.healthMonitors.find(monitorId, { signal }),
    ]);
    this.#kept.set(pool.id, { entry, members, monitor });
    return { pool, members, monitor };
  }

  /** After a write of ours: what was read before is old, whatever the entry says. */
  forget(poolId: string): void {
    this.#kept.delete(poolId);
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
