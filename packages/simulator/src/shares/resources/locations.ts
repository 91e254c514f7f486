import { computeError } from "../../compute/model.ts";
import { instanceId, locationsOf, type Location } from "../rules/export-locations.ts";
import { shareFor, refused, type Share, type ShareApp, type ShareContext, type ShareParts } from "../model.ts";

/** Export locations of shares: https://docs.openstack.org/api-ref/shared-file-system/#share-export-locations . */
export function mountLocations(app: ShareApp, parts: ShareParts): void {
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
