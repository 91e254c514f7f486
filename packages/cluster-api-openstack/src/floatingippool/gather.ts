import type { IPAddress, IPAddressClaim, OpenStackFloatingIPPool } from "@causeway/api";
import type { Informer, ObjectKey } from "@causeway/kubernetes";
import type { Session, Sessions } from "../identity/sessions.ts";
import { isPaused } from "../openstackcluster/gather.ts";
import type { Refusals } from "../reactions/refusals.ts";
import type { Interests } from "../reactions/interests.ts";
import type { Observed } from "./model.ts";
import { poolDescription } from "./naming.ts";

/** The informers that an OpenStackFloatingIPPool is gathered from, and its sessions with clouds. */
export interface PoolSources {
  readonly pools: Informer<OpenStackFloatingIPPool>;
  /** Both indexed by "pool": "namespace/pool". */
  readonly claims: Informer<IPAddressClaim>;
  readonly addresses: Informer<IPAddress>;
  readonly sessions: Sessions;
  readonly interests: Interests;
  readonly refusals: Refusals;
}

/** What the plan of a pool reads, and the session that its steps use; undefined: the credentials do not work. */
export interface PoolGathered extends Observed {
  readonly session: Session | undefined;
}

/** The index of claims and addresses by their pool. */
export function poolOf({ metadata, spec }: IPAddressClaim | IPAddress): string[] {
  return spec.poolRef.kind === "OpenStackFloatingIPPool" ? [`${metadata.namespace ?? ""}/${spec.poolRef.name}`] : [];
}

/** Reads a pool, its claims and addresses, and the floating IPs of its project. */
export async function gather(
  sources: PoolSources,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<PoolGathered | undefined> {
  const object = sources.pools.get(key);
  if (!object) {
    sources.interests.clear(key);
    return undefined;
  }
  const at = `${key.namespace ?? ""}/${key.name}`;
  const byName = (a: IPAddressClaim | IPAddress, b: IPAddressClaim | IPAddress) =>
    a.metadata.name < b.metadata.name ? -1 : 1;
  const base = {
    object,
    paused: isPaused(object, undefined),
    claims: [...sources.claims.byIndex("pool", at)].sort(byName),
    addresses: [...sources.addresses.byIndex("pool", at)].sort(byName),
    hold: sources.refusals.get(object),
  };
  const known = [...(object.spec.preAllocatedFloatingIPs ?? []), ...(object.status?.availableIPs ?? [])];
  sources.interests.set(key, [poolDescription(object), ...known, ...base.addresses.map(({ spec }) => spec.address)]);
  const place = { reference: object.spec.identityRef, namespace: key.namespace ?? "" };
  const opened = await sources.sessions.get(place, (watch) => [watch.networks, watch.floatingIps], signal);
  if (!opened.ok) return { ...base, session: undefined, identity: opened };
  const { session } = opened;
  const { watch, projectId } = session;
  const cloud = { projectId, networks: watch.networks.list(), floatingIps: watch.floatingIps.list() };
  return { ...base, session, identity: { ok: true, cloud } };
}
