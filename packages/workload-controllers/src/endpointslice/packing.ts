import { canonicalJson } from "@causeway/foundation";
import type { Endpoint, EndpointSlice } from "@causeway/kubernetes";

/** Endpoints of one slice, at most (upstream's --max-endpoints-per-slice). */
export const MAX_ENDPOINTS = 100;

/** Endpoints by slice: of the slices that exist, and of those to be made. */
export interface Packed {
  /** What each existing slice holds from now on; a slice without endpoints is to be deleted. */
  readonly kept: ReadonlyMap<EndpointSlice, readonly Endpoint[]>;
  readonly created: readonly (readonly Endpoint[])[];
}

/**
 * Packs endpoints into slices with few writes: what is in a slice remains there, slices that change anyway are filled
 * first, then one that has room for the rest, and only then new slices are made. Slices are not repacked for their own
 * sake.
 */
export function pack(existing: readonly EndpointSlice[], wanted: readonly Endpoint[]): Packed {
  const missing = new Map(wanted.map((endpoint) => [identityOf(endpoint), endpoint]));
  const kept = new Map<EndpointSlice, Endpoint[]>();
  const changed = new Set<EndpointSlice>();
  for (const slice of existing) {
    const before = slice.endpoints ?? [];
    const after = before.flatMap((endpoint) => {
      const id = identityOf(endpoint);
      const now = missing.get(id);
      missing.delete(id);
      return now ? [now] : [];
    });
    kept.set(slice, after);
    if (canonicalJson(before) !== canonicalJson(after)) changed.add(slice);
  }
  const rest = [...missing.values()];
  const fill = (slice: EndpointSlice) => {
    const held = kept.get(slice) ?? [];
    held.push(...rest.splice(0, MAX_ENDPOINTS - held.length));
  };
  const fullestFirst = [...changed].toSorted((a, b) => (kept.get(b)?.length ?? 0) - (kept.get(a)?.length ?? 0));
  for (const slice of fullestFirst) fill(slice);
  const created: Endpoint[][] = [];
  while (rest.length >= MAX_ENDPOINTS) created.push(rest.splice(0, MAX_ENDPOINTS));
  if (rest.length > 0) {
    const roomy = existing
      .filter((slice) => (kept.get(slice)?.length ?? 0) + rest.length <= MAX_ENDPOINTS)
      .toSorted((a, b) => (kept.get(b)?.length ?? 0) - (kept.get(a)?.length ?? 0))[0];
    if (roomy) fill(roomy);
    else created.push(rest.splice(0));
  }
  return { kept, created };
}

/** The same pod with the same addresses. */
function identityOf({ addresses, targetRef, hostname }: Endpoint): string {
  return canonicalJson([addresses, targetRef?.uid ?? targetRef?.name, hostname]);
}
