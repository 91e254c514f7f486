import { computeError, denied } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import type { Image } from "../../image/model.ts";
import { attachActions } from "./attach-actions.ts";
import type { Volumes } from "../rules/lifecycle.ts";
import { instantOf, volumeFor, type StorageApp, type StorageParts, type Volume } from "../model.ts";
import type { StorageContext } from "../views.ts";

interface Order {
  readonly volume: Volume;
  readonly body: unknown;
}
/** What one member of the body of …/action does; it sends the response itself. */
export type Action = (c: StorageContext, order: Order) => Response;

/** POST …/volumes/{id}/action. */
export function mountVolumeActions(app: StorageApp, parts: StorageParts, volumes: Volumes): void {
  const actions = { ...actionsOf(parts, volumes), ...attachActions(parts) };
  app.post("/v3/:project/volumes/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const volume = volumeFor(parts.tables, c.get("caller"), c.req.param("id"));
    const name = isObject(body) ? (Object.keys(body)[0] ?? "") : "";
    const action = actions[name];
    if (action) return action(c, { volume, body: at(body, name) });
    throw noSuchAction(name);
  });
}

const noSuchAction = (name: string) =>
  computeError(400, `There is no such action: ${name}. Verify the request body and Content-Type header and try again.`);

function actionsOf({ kernel, tables }: StorageParts, volumes: Volumes): Readonly<Record<string, Action>> {
  const change = (volume: Volume, to: Partial<Volume>) =>
    tables.volumes.update(volume.id, { ...to, updated_at: instantOf(kernel) });
  const images = kernel.table<Image>("image");
  return {
    "os-extend": (c, { volume, body }) => {
      const asked = at(body, "new_size");
      if (!/^[0-9]+$/.test(String(asked))) {
        const why = `Invalid input for field/attribute new_size. Value: ${String(asked)}. '${String(asked)}' does not match '^[0-9]+$'`;
        throw computeError(400, why);
      }
      extend(c, volumes, { volume, size: Number(asked) });
      return c.body(null, 202);
    },
    "os-retype": (c, { volume, body }) => {
      const asked = textAt(body, "new_type") ?? "";
      const type = tables.types.get(asked) ?? tables.types.by("name", asked)[0];
      if (!type) throw computeError(404, `Volume type with name ${asked} could not be found.`);
      if (type.name === volume.volume_type) {
        const why =
          "Retype needs volume to be in available or in-use state, not be part of an active migration or a consistency group, requested type has to be different that the one from the volume, and for in-use volumes front-end qos specs cannot change.";
        throw computeError(400, `Invalid volume: ${why}`);
      }
      if (volume.status !== "available" && volume.status !== "in-use") {
        const why = `Volume ${volume.id} status must be available or in-use, but current status is: ${volume.status}.`;
        throw computeError(400, `Invalid volume: ${why}`);
      }
      // If no backend can hold it, the volume keeps its type, and no error is returned.
      if (volumes.isPlaceable(type.name)) change(volume, { volume_type: type.name });
      return c.body(null, 202);
    },
    "os-set_bootable": (c, { volume, body }) => {
      const bootable = at(body, "bootable");
      if (typeof bootable !== "boolean") throw computeError(400, "Invalid value for bootable");
      change(volume, { bootable });
      return c.body(null, 200);
    },
    "os-update_readonly_flag": (c, { volume, body }) => {
      const readonly = at(body, "readonly");
      if (typeof readonly !== "boolean") throw computeError(400, "Invalid value for readonly");
      change(volume, { metadata: { ...volume.metadata, readonly: readonly ? "True" : "False" } });
      return c.body(null, 202);
    },
    "os-reimage": (c, { volume, body }) => {
      if (c.get("minor") < 68) throw noSuchAction("os-reimage");
      const image = textAt(body, "image_id");
      if (image === undefined)
        throw computeError(400, "Invalid input for field/attribute os-reimage. 'image_id' is a required property");
      const isReserved = at(body, "reimage_reserved") === true;
      const statuses = ["available", "error", ...(isReserved ? ["reserved"] : [])];
      if (!statuses.includes(volume.status)) {
        const named = isReserved ? "available, error, or reserved" : "available or error";
        const why = `Volume ${volume.id} status must be ${named}, but current status is ${volume.status}.`;
        throw computeError(400, `Invalid volume: ${why}`);
      }
      if (!images.get(image)) throw computeError(404, `Image ${image} could not be found.`);
      volumes.reimage(volume, image);
      return c.body(null, 202);
    },
    "os-reset_status": (c, { volume, body }) => {
      if (!c.get("caller").isAdmin) throw denied("volume_extension:volume_admin_actions:reset_status");
      const status = textAt(body, "status");
      change(volume, status === undefined ? {} : { status });
      return c.body(null, 202);
    },
    "os-force_delete": (c, { volume }) => {
      if (!c.get("caller").isAdmin) throw denied("volume_extension:volume_admin_actions:force_delete");
      volumes.deleteVolume(volume.id);
      return c.body(null, 202);
    },
  };
}

function extend(c: StorageContext, volumes: Volumes, { volume, size }: { volume: Volume; size: number }): void {
  // An attached volume grows from 3.42 on.
  if (volume.status !== "available" && !(volume.status === "in-use" && c.get("minor") >= 42)) {
    const message = `Invalid volume: Volume ${volume.id} status must be '{'status': 'available'}' to extend, currently ${volume.status}.`;
    throw computeError(400, message);
  }
  if (size <= volume.size) {
    const why = `New size for extend must be greater than current size. (current: ${volume.size}, extended: ${size}).`;
    throw computeError(400, `Invalid input received: ${why}`);
  }
  volumes.extend(volume, size);
}
