import { createHash } from "node:crypto";
import { placeOf, type Share } from "../model.ts";

/** The one backend, in the words of a share's `host`. */
export const pool = "storage-1@simulated#pool";

/** An id that follows from a share's, so that it need not be kept. */
export function derivedId({ id }: { readonly id: string }, label: string): string {
  const hex = createHash("sha256").update(`${label} ${id}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** The id of a share's one instance. */
export const instanceId = (share: Share): string => derivedId(share, "instance");

/** One path of a share. */
export interface Location {
  readonly id: string;
  readonly path: string;
  readonly preferred: boolean;
  readonly is_admin_only: boolean;
}

/**
 * Where a share is to be mounted: at a service's own address, which only operators see, at a preferred one and at
 * another.
 */
export function locationsOf(share: Share): readonly Location[] {
  if (placeOf(share) !== "exported") return [];
  if (share.share_proto === "CEPHFS") return [cephLocation(share)];
  const location = (address: string, preferred: boolean, is_admin_only: boolean) => ({
    id: derivedId(share, address),
    path: `${address}:/shares/share-${share.id}`,
    preferred,
    is_admin_only,
  });
  return [location("11.0.0.11", false, true), location("10.0.0.10", true, false), location("10.0.0.20", false, false)];
}

/** CephFS has one location: the monitors, and the path of a subvolume. */
function cephLocation(share: Share): Location {
  const path = `10.0.0.30:6789,10.0.0.31:6789:/volumes/_nogroup/${share.id}/${derivedId(share, "subvolume")}`;
  return { id: derivedId(share, "ceph"), path, preferred: false, is_admin_only: false };
}
