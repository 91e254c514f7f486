import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { ownedBy } from "../../kernel/rest/owned.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { linkedPage } from "../listing.ts";
import { cinder, instantOf, volumeFor } from "../model.ts";
import type { Attachment, StorageApp, StorageEnv, StorageParts } from "../model.ts";
import type { StorageContext } from "../views.ts";
import { mine } from "./volumes.ts";

const base = "/v3/:project/attachments";

/** The attachments API (3.27): a volume is reserved, given a connector, marked as attached, and released. */
export function mountAttachments(app: StorageApp, { kernel, tables }: StorageParts): void {
  const found = (c: StorageContext, id = c.req.param("id") ?? ""): Attachment => {
    const missing = () => computeError(404, `Volume attachment could not be found with filter: attachment_id = ${id}.`);
    return ownedBy(c.get("caller"), tables.attachments.get(id), missing);
  };
  mountResource<StorageEnv, Attachment>(app, kernel, {
    ...cinder("attachment"),
    bodyMissing: () => computeError(400, "'volume_uuid' is a required property"),
    path: base,
    many: "attachments",
    lists: ["list", "detail"],
    find: (c) => found(c),
    list(c) {
      const all = mine(c) ? tables.attachments.by("project_id", c.get("caller").projectId) : tables.attachments.all();
      // An attachment's row has no column of this name, so that it finds none.
      const isFound = c.req.query("status") === undefined;
      return linkedPage(c, "attachments", isFound ? all : [], { find: (id) => found(c, id), resource: "attachment" });
    },
    view: (_c, attachment, verb) => (verb === "list" ? briefView(attachment) : fullView(attachment)),
    create(c, given) {
      const volume_id = textAt(given, "volume_uuid");
      if (volume_id === undefined) throw computeError(400, "'volume_uuid' is a required property");
      const volume = volumeFor(tables, c.get("caller"), volume_id);
      const isFree = volume.status === "available" || (volume.multiattach && volume.status === "in-use");
      if (!isFree) {
        const why = `Volume ${volume.id} status must be available or downloading to reserve, but the current status is ${volume.status}.`;
        throw computeError(400, `Invalid volume: ${why}`);
      }
      const connector = given["connector"];
      const isConnected = isObject(connector) && Object.keys(connector).length > 0;
      tables.volumes.update(volume.id, { status: isConnected ? "attaching" : "reserved" });
      return tables.attachments.insert({
        id: kernel.newId(),
        project_id: volume.project_id,
        volume_id,
        instance: textAt(given, "instance_uuid") ?? null,
        status: isConnected ? "attaching" : "reserved",
        attach_mode: textAt(given, "mode") ?? (isConnected ? "rw" : "null"),
        connection_info: isConnected ? connectionTo(volume_id) : {},
        created_at: instantOf(kernel),
      });
    },
  });
  app.put(`${base}/:id`, async (c) => {
    const { id, volume_id } = found(c);
    const connector = at(await bodyOf(c.req), "attachment", "connector");
    if (!isObject(connector)) throw computeError(400, "'connector' is a required property");
    tables.volumes.update(volume_id, { status: "attaching" });
    const change = { status: "attaching", attach_mode: "rw", connection_info: connectionTo(volume_id) };
    return c.json({ attachment: fullView(tables.attachments.update(id, change)) });
  });
  app.post(`${base}/:id/action`, async (c) => {
    const attachment = found(c);
    const body = await bodyOf(c.req);
    if (!isObject(body) || !("os-complete" in body)) throw computeError(400, "There is no such action.");
    tables.attachments.update(attachment.id, { status: "attached" });
    const { attachments } = volumeFor(tables, c.get("caller"), attachment.volume_id);
    const entry = {
      attachment_id: attachment.id,
      server_id: attachment.instance ?? "",
      device: "/dev/vdb",
      attached_at: instantOf(kernel),
    };
    tables.volumes.update(attachment.volume_id, { status: "in-use", attachments: [...attachments, entry] });
    return c.body(null, 204);
  });
  app.delete(`${base}/:id`, (c) => {
    const { id, volume_id } = found(c);
    tables.attachments.remove(id);
    const left = tables.attachments.by("volume_id", volume_id);
    const volume = tables.volumes.get(volume_id);
    if (volume) {
      const attachments = volume.attachments.filter((a) => a.attachment_id !== id);
      const status = attachments.length > 0 ? "in-use" : (left[0]?.status ?? "available");
      tables.volumes.update(volume_id, { attachments, status, updated_at: instantOf(kernel) });
    }
    return c.json({ attachments: left.map(briefView) });
  });
}

const connectionTo = (volume: string) => ({
  driver_volume_type: "iscsi",
  target_discovered: false,
  target_portal: "192.0.2.1:3260",
  target_iqn: `iqn.2010-10.org.openstack:volume-${volume}`,
  target_lun: 0,
  volume_id: volume,
});

const briefView = (a: Attachment): JsonObject => ({
  id: a.id,
  status: a.status,
  instance: a.instance,
  volume_id: a.volume_id,
});

const fullView = (a: Attachment): JsonObject => ({
  ...briefView(a),
  attached_at: a.status === "attached" ? a.created_at : "",
  detached_at: "",
  attach_mode: a.attach_mode,
  connection_info: a.connection_info,
});
