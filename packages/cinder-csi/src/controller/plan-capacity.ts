import { bytesOf } from "@causeway/csi-openstack";
import type { StoragePool, VolumeType } from "@causeway/openstack";

/** What Cinder's schedulers know, where the driver's user may read it. */
export interface Backends {
  readonly pools: readonly StoragePool[];
  readonly types: readonly VolumeType[];
  /** Of the host that runs cinder-volume: its zone. */
  readonly zones: ReadonlyMap<string, string>;
}

/** What `planCapacity` reads. */
export interface CapacityView {
  /** maxTotalVolumeGigabytes and totalGigabytesUsed of the project. */
  readonly limits: Readonly<Record<string, number>>;
  /** Undefined: the user may not read pools. */
  readonly backends: Backends | undefined;
  readonly type: string;
  /** "": any. */
  readonly zone: string;
}

/** The response to GetCapacity, in bytes. */
export interface Capacity {
  readonly availableCapacity: bigint;
  /** Bytes of the largest volume; undefined: no pool limits it. */
  readonly maximumVolumeSize?: bigint;
}

const UNLIMITED = 2n ** 63n - 1n;

/**
 * What the project's quota and the pools of the type and zone leave. A pool that does not say how much it has does not
 * limit anything.
 */
export function planCapacity({ limits, backends, type, zone }: CapacityView): Capacity {
  const quota = remaining(limits);
  if (!backends) return { availableCapacity: quota };
  const free = backends.pools.filter((pool) => isOf(pool, { backends, type, zone })).map(freeOf);
  if (free.some((gib) => gib === undefined)) return { availableCapacity: quota };
  const known = free.map((gib) => bytesOf(Math.max(0, Math.floor(gib ?? 0))));
  const sum = known.reduce((total, each) => total + each, 0n);
  const largest = known.reduce((most, each) => (each > most ? each : most), 0n);
  return { availableCapacity: least(quota, sum), maximumVolumeSize: least(quota, largest) };
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);

/** Bytes that the project's quota leaves. */
function remaining(limits: Readonly<Record<string, number>>): bigint {
  const [most = -1, used = 0] = [limits["maxTotalVolumeGigabytes"], limits["totalGigabytesUsed"]];
  return most < 0 ? UNLIMITED : bytesOf(Math.max(0, most - used));
}

/** "host@backend#pool" has the zone of its host. */
function isOf(
  { name, capabilities = {} }: StoragePool,
  { backends, type, zone }: Pick<CapacityView, "type" | "zone"> & { readonly backends: Backends },
): boolean {
  const host = name.split("#")[0] ?? "";
  const own = backends.zones.get(host) ?? backends.zones.get(host.split("@")[0] ?? "");
  if (zone !== "" && own !== undefined && own !== zone) return false;
  const found = backends.types.find((each) => each.name === type || each.id === type);
  const backend = found?.extra_specs?.["volume_backend_name"];
  return backend === undefined || backend === capabilities.volume_backend_name;
}

/** GiB without what the operator reserves; undefined: unlimited or not known. */
function freeOf({ capabilities = {} }: StoragePool): number | undefined {
  const { free_capacity_gb: free, total_capacity_gb: total, reserved_percentage: reserved } = capabilities;
  const gib = Number(free ?? Number.NaN);
  if (!Number.isFinite(gib)) return undefined;
  const [all, part] = [Number(total ?? 0), Number(reserved ?? 0)];
  return Number.isFinite(all) && Number.isFinite(part) ? gib - (all * part) / 100 : gib;
}
