import { computeError, denied } from "../../compute/model.ts";
import { at, isObject, textAt } from "../../kernel/json.ts";
import { instantOf, type StorageParts, type Volume } from "../model.ts";
import type { Action } from "./volume-actions.ts";

const badState = (volume: Volume, wanted: string) =>
  computeError(
    400,
    `Invalid volume: Volume ${volume.id} status must be ${wanted}, but current status is ${volume.status}.`,
  );

/** The actions by which older Nova attaches a volume to a server, and the metadata that overrides its image's. */
export function attachActions({ kernel, tables }: StorageParts): Readonly<Record<string, Action>> {
  const change = (volume: Volume, to: Partial<Volume>) =>
    tables.volumes.update(volume.id, { ...to, updated_at: instantOf(kernel) });
  const moved = (from: readonly string[], to: string): Action => {
    return (c, { volume }) => {
      if (!from.includes(volume.status)) throw badState(volume, from.join(" or "));
      change(volume, { status: to });
      return c.body(null, 202);
    };
  };
  const detach: Action = (c, { volume, body }) => {
    const id = textAt(body, "attachment_id");
    const attachments = volume.attachments.filter((a) => id !== undefined && a.attachment_id !== id);
    change(volume, { attachments, status: attachments.length > 0 ? "in-use" : "available" });
    return c.body(null, 202);
  };
  return {
    "os-reserve": (c, { volume }) => {
      if (volume.status !== "available" && !(volume.multiattach && volume.status === "in-use")) {
        const why = `Volume ${volume.id} status must be available or downloading to reserve, but the current status is ${volume.status}.`;
        throw computeError(400, `Invalid volume: ${why}`);
      }
      change(volume, { status: "attaching" });
      return c.body(null, 202);
    },
    "os-unreserve": (c, { volume }) => {
      if (volume.status === "attaching")
        change(volume, { status: volume.attachments.length > 0 ? "in-use" : "available" });
      return c.body(null, 202);
    },
    "os-begin_detaching": moved(["in-use"], "detaching"),
    "os-roll_detaching": moved(["detaching"], "in-use"),
    "os-attach": (c, { volume, body }) => {
      if (volume.status !== "available" && volume.status !== "attaching")
        throw badState(volume, "available or attaching");
      const entry = {
        attachment_id: kernel.newId(),
        server_id: textAt(body, "instance_uuid") ?? "",
        device: textAt(body, "mountpoint") ?? "",
        attached_at: instantOf(kernel),
      };
      change(volume, { status: "in-use", attachments: [...volume.attachments, entry] });
      return c.body(null, 202);
    },
    "os-detach": detach,
    "os-force_detach": (c, order) => {
      if (!c.get("caller").isAdmin) throw denied("volume_extension:volume_admin_actions:force_detach");
      return detach(c, order);
    },
    "os-set_image_metadata": (c, { volume, body }) => {
      const metadata = at(body, "metadata");
      if (!isObject(metadata)) throw computeError(400, "'metadata' is a required property");
      const image_metadata = {
        ...volume.image_metadata,
        ...Object.fromEntries(Object.entries(metadata).map(([k, v]) => [k, String(v)])),
      };
      change(volume, { image_metadata });
      return c.json({ metadata: image_metadata });
    },
    "os-unset_image_metadata": (c, { volume, body }) => {
      const key = textAt(body, "key") ?? "";
      const { [key]: gone, ...image_metadata } = volume.image_metadata ?? {};
      if (gone === undefined)
        throw computeError(404, `Glance metadata for volume/snapshot ${volume.id} cannot be found.`);
      change(volume, { image_metadata });
      return c.body(null, 200);
    },
    "os-show_image_metadata": (c, { volume }) => c.json({ metadata: volume.image_metadata ?? {} }),
  };
}
