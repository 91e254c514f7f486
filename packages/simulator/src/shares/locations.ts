import { createHash } from "node:crypto";
import { computeError } from "../compute/model.ts";
import { shareFor, placeOf, refused, type Share, type ShareApp, type ShareContext, type ShareParts } from "./model.ts";

/** The one backend, in the words of a share's `host`. */
export const pool = "storage-1@simulated#pool";

/** An id that follows from a share's, so that it need not be kept. */
export function derivedId({ id }: { readonly id: string }, label: string): string {
  const hex = createHash("sha256").update(`${label} ${id}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** The id of a share's one instance. */
export const instanceId = (share: Share): string => derivedId(share, "instance");

interface Location {
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

/** Export locations of shares: https://docs.openstack.org/api-ref/shared-file-system/#share-export-locations . */
export function addLocationRoutes(app: ShareApp, parts: ShareParts): void {
  const path = "/v2/shares/:id/export_locations";
  const view = (c: ShareContext, share: Share, { is_admin_only, preferred, ...location }: Location) => ({
    ...location,
    ...(c.get("minor") >= 14 ? { preferred } : {}),
    ...(c.get("caller").isAdmin ? { share_instance_id: instanceId(share), is_admin_only } : {}),
  });
  const seen = (c: ShareContext, share: Share) =>
    locationsOf(share).filter(({ is_admin_only }) => !is_admin_only || c.get("caller").isAdmin);
  app.get(path, (c) => {
    const share = shareFor(c, parts, c.req.param("id"));
    return c.json({ export_locations: seen(c, share).map((one) => view(c, share, one)) });
  });
  app.get(`${path}/:location`, (c) => {
    const share = shareFor(c, parts, c.req.param("id"));
    const id = c.req.param("location");
    const location = locationsOf(share).find((one) => one.id === id);
    if (!location) throw computeError(404, `Export location '${id}' not found.`);
    if (location.is_admin_only && !c.get("caller").isAdmin) throw refused();
    const since = { created_at: share.created_at, updated_at: share.created_at };
    return c.json({ export_location: { ...view(c, share, location), ...since } });
  });
}
