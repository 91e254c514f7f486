import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject } from "../../kernel/json.ts";
import { instanceId, locationsOf, pool } from "../rules/export-locations.ts";
import { shareFor, notThere, placeOf, requireAdmin, typeId } from "../model.ts";
import type { Share, ShareApp, ShareContext, ShareParts } from "../model.ts";

const states = "error_deleting, creating, server_migrating, migrating_to, error, available, migrating, deleting".split(
  ", ",
);

/** The status that an operator's order gives. Throws Manila's 400 for what is none. */
export function statusOf(given: unknown): string {
  const status = at(given, "status");
  if (status === undefined) throw computeError(400, "Must specify 'status'");
  if (typeof status === "string" && states.includes(status)) return status;
  throw computeError(400, `Invalid state. Valid states: ${states.join(", ")}.`);
}

/**
 * Share instances: the one copy that each share has, for operators:
 * https://docs.openstack.org/api-ref/shared-file-system/#share-instances-since-api-v2-3 .
 */
export function mountInstances(app: ShareApp, parts: ShareParts): void {
  const found = (c: ShareContext): Share => {
    requireAdmin(c);
    const share = parts.shares.all().find((one) => instanceId(one) === c.req.param("id"));
    if (!share) throw notThere();
    return share;
  };
  app.get("/v2/shares/:id/instances", (c) => {
    requireAdmin(c);
    return c.json({ share_instances: [instanceView(c, shareFor(c, parts, c.req.param("id")))] });
  });
  app.get("/v2/share_instances", (c) => {
    requireAdmin(c);
    const [host, path] = [c.req.query("host"), c.req.query("export_location_path")];
    const asked = parts.shares
      .all()
      .filter((share) => path === undefined || locationsOf(share).some((location) => location.path === path))
      .map((share) => instanceView(c, share))
      .filter((view) => host === undefined || at(view, "host") === host);
    return c.json({ share_instances: asked });
  });
  app.get("/v2/share_instances/:id", (c) => c.json({ share_instance: instanceView(c, found(c)) }));
  app.get("/v2/share_instances/:id/export_locations", (c) => {
    const share = found(c);
    const views = locationsOf(share).map((location) => ({ ...location, share_instance_id: instanceId(share) }));
    return c.json({ export_locations: views });
  });
  app.post("/v2/share_instances/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const share = found(c);
    const name = isObject(body) ? (Object.keys(body)[0] ?? "") : "";
    if (name === "reset_status") parts.shares.update(share.id, { status: statusOf(at(body, name)) });
    else if (name === "force_delete") forceDelete(parts, share);
    else throw computeError(400, `There is no such action: ${name}`);
    return c.body(null, 202);
  });
}

/** Deletes a share whatever it is doing. */
export function forceDelete({ kernel, shares }: ShareParts, { id }: Share): void {
  shares.update(id, { status: "deleting" });
  kernel.timers.after(kernel.delay("share.delete"), "share.settle", `${id} deleting gone`);
}

function instanceView(c: ShareContext, share: Share): object {
  const minor = c.get("minor");
  const place = placeOf(share);
  const paths = locationsOf(share).map(({ path }) => path);
  const from = (least: number, fields: object) => (minor >= least ? fields : {});
  return {
    id: instanceId(share),
    share_id: share.id,
    availability_zone: place === "none" ? null : "nova",
    created_at: share.created_at,
    host: place === "none" ? "" : pool,
    status: share.status,
    share_network_id: share.share_network_id,
    share_server_id: null,
    ...(minor < 9 ? { export_location: paths[0] ?? null, export_locations: paths } : {}),
    ...from(10, { access_rules_status: "active" }),
    ...from(11, { replica_state: null }),
    ...from(22, { share_type_id: share.type?.id ?? typeId }),
    ...from(30, { cast_rules_to_readonly: false }),
    ...from(54, { progress: place === "exported" ? "100%" : null }),
    ...from(71, { updated_at: share.created_at }),
  };
}
