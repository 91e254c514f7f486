import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { computeError } from "../../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import { mountRules, listedRule } from "./access-rules.ts";
import { forceDelete, statusOf } from "./instances.ts";
import { unmanage } from "./manage.ts";
import { labelsOf } from "./metadata.ts";
import { shareFor, instantOf, requireAdmin } from "../model.ts";
import type { AccessRule, Share, ShareApp, ShareContext, ShareParts } from "../model.ts";
import { checkGrowth } from "./quotas.ts";

interface Order {
  readonly share: Share;
  readonly given: unknown;
}
type Action = (c: ShareContext, order: Order) => Response;

/** POST /v2/shares/{id}/action, by the names of 2.7 and those before it, and the rules of access. */
export function mountShareActions(app: ShareApp, parts: ShareParts): void {
  const actions = actionsOf(parts);
  parts.kernel.timers.handler("share.access", (id) => {
    const rule = parts.rules.get(id);
    if (rule?.state === "queued_to_apply") {
      const key = createHash("sha256").update(`cephx ${id}`).digest("base64").slice(0, 38);
      parts.rules.update(id, { state: "active", ...(rule.access_type === "cephx" && { access_key: `${key}==` }) });
    }
    if (rule?.state === "queued_to_deny") parts.rules.remove(id);
  });
  app.post("/v2/shares/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const share = shareFor(c, parts, c.req.param("id"));
    const name = isObject(body) ? (Object.keys(body)[0] ?? "") : "";
    const action = actions[name.replace(/^os-/, "")];
    if (!action) throw computeError(400, `There is no such action: ${name}`);
    return action(c, { share, given: at(body, name) });
  });
  mountRules(app, parts);
}

function actionsOf(parts: ShareParts): Readonly<Record<string, Action>> {
  const { kernel, shares, rules } = parts;
  const sizeOf = (given: unknown): number => {
    const size = at(given, "new_size");
    if (!/^\d+$/.test(String(size))) throw computeError(400, "New share size must be specified as an integer.");
    return Number(size);
  };
  const resized = (c: ShareContext, share: Share, change: { readonly status: string; readonly size: number }) => {
    shares.update(share.id, change);
    const outcome = kernel.outcome(change.status === "extending" ? "share.extend" : "share.shrink", share.name ?? "");
    const end = outcome === "error" ? `${change.status}_error` : "available";
    if (outcome === "stuck") return c.body(null, 202);
    kernel.timers.after(kernel.delay("share.extend"), "share.settle", `${share.id} ${change.status} ${end}`);
    return c.body(null, 202);
  };
  const reset: Action = (c, { share, given }) => {
    requireAdmin(c);
    shares.update(share.id, { status: statusOf(given) });
    return c.body(null, 202);
  };
  return {
    extend: (c, { share, given }) => {
      if (share.status !== "available") {
        const why = `status must be 'available' to extend, but current status is: ${share.status}`;
        throw computeError(400, `Invalid share: Share ${share.id} ${why}.`);
      }
      const size = sizeOf(given);
      if (size <= share.size) {
        const why = `New size for extend must be greater than current size. (current: ${share.size}, extended: ${size}).`;
        throw computeError(400, `Invalid input received: ${why}`);
      }
      checkGrowth(parts, share.project_id, size - share.size);
      return resized(c, share, { status: "extending", size });
    },
    shrink: (c, { share, given }) => {
      const shrinkable = ["available", "shrinking_possible_data_loss_error"];
      if (!shrinkable.includes(share.status)) {
        const why = `status must in (${shrinkable.join(", ")}) to shrink, but current status is: ${share.status}`;
        throw computeError(400, `Invalid share: Share ${share.id} ${why}.`);
      }
      const size = sizeOf(given);
      if (size >= share.size || size < 1) {
        const why = `New size for shrink must be less than current size and greater than 0 (current: ${share.size}, new: ${size}).`;
        throw computeError(400, `Invalid input received: ${why}`);
      }
      return resized(c, share, { status: "shrinking", size });
    },
    reset_status: reset,
    force_delete: (c, { share }) => {
      requireAdmin(c);
      forceDelete(parts, share);
      return c.body(null, 202);
    },
    unmanage: (c, { share }) => {
      requireAdmin(c);
      unmanage(parts, share);
      return c.body(null, 202);
    },
    allow_access: (c, { share, given }) => {
      const rule = rules.insert(askedRule(parts, share, given));
      kernel.timers.after(kernel.delay("share.access"), "share.access", rule.id);
      return c.json({ access: rule });
    },
    deny_access: (c, { share, given }) => {
      const id = textAt(given, "access_id") ?? "";
      if (rules.get(id)?.share_id !== share.id) throw computeError(404, "Resource could not be found.");
      rules.update(id, { state: "queued_to_deny" });
      kernel.timers.after(kernel.delay("share.access"), "share.access", id);
      return c.body(null, 202);
    },
    revert: (_c, { share, given }) => {
      const id = textAt(given, "snapshot_id");
      if (id === undefined) throw computeError(400, "Required parameter snapshot_id not found.");
      if (parts.snapshots.get(id)?.project_id !== share.project_id) {
        throw computeError(400, `Snapshot ${id} could not be found.`);
      }
      // The one backend does not do it, so that no share has it done.
      const why = "because the share does not have that capability.";
      throw computeError(400, `Share ${share.id} may not be reverted to snapshot ${id}, ${why}`);
    },
    access_list: (c, { share }) => c.json({ access_list: rules.by("share_id", share.id).map(listedRule) }),
  };
}

function askedRule({ kernel, rules }: ShareParts, share: Share, given: unknown): AccessRule {
  const [type, to] = [textAt(given, "access_type") ?? "", textAt(given, "access_to") ?? ""];
  const level = textAt(given, "access_level") ?? "rw";
  if (!["ip", "user", "cert", "cephx"].includes(type)) {
    throw computeError(400, "Only 'ip', 'user', 'cert' or 'cephx' access types are supported.");
  }
  if (type === "ip" && !isNetwork(to)) throw computeError(400, `'${to}' does not appear to be an IPv4 or IPv6 network`);
  if (type === "user" && !/^[\w .$@-]{4,255}$/.test(to)) {
    const rule = "Must be 4-255 characters and consist of alphanumeric characters and exclude special characters";
    throw computeError(400, `Invalid user or group name. ${rule} "/\\[]:;|=,+*?<>`);
  }
  const metadata = labelsOf(at(given, "metadata") ?? {});
  if (rules.by("share_id", share.id).some((r) => r.access_type === type && r.access_to === to)) {
    throw computeError(400, `Share access ${type}:${to} exists.`);
  }
  if (level !== "rw" && level !== "ro")
    throw computeError(400, `Invalid access rule: Invalid share access level: ${level}.`);
  if (share.status !== "available") {
    const why = "any of its replicas or migration copies lacks a valid host or is in an invalid state.";
    throw computeError(400, `New access rules cannot be applied while the share or ${why}`);
  }
  return {
    id: kernel.newId(),
    share_id: share.id,
    access_type: type,
    access_to: to,
    access_level: level,
    access_key: null,
    state: "queued_to_apply",
    metadata,
    created_at: instantOf(kernel),
    updated_at: null,
  };
}

function isNetwork(text: string): boolean {
  const [address = "", prefix] = text.split("/");
  const family = isIP(address);
  if (family === 0) return false;
  return prefix === undefined || (/^\d+$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}
