import { isIP } from "node:net";
import { computeError } from "../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import {
  instantOf,
  requireAdmin,
  type AccessRule,
  type Share,
  type ShareApp,
  type ShareContext,
  type ShareParts,
} from "./model.ts";
import { checkShareQuota } from "./quotas.ts";
import { shareFor } from "./shares.ts";

interface Order {
  readonly share: Share;
  readonly given: unknown;
}
type Action = (c: ShareContext, order: Order) => Response;

/** POST /v2/shares/{id}/action, by the names of 2.7 and those before it, and the rules of access. */
export function addShareActions(app: ShareApp, parts: ShareParts): void {
  const actions = actionsOf(parts);
  parts.kernel.agenda.handler("share.access", (id) => {
    const rule = parts.rules.get(id);
    if (rule?.state === "queued_to_apply") parts.rules.update(id, { state: "active" });
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
  app.get("/v2/share-access-rules", (c) => {
    const share = shareFor(c, parts, c.req.query("share_id") ?? "");
    return c.json({ access_list: parts.rules.by("share_id", share.id).map(listedRule) });
  });
  app.get("/v2/share-access-rules/:id", (c) => {
    const rule = parts.rules.get(c.req.param("id"));
    if (!rule) throw computeError(404, `Share access rule ${c.req.param("id")} not found.`);
    shareFor(c, parts, rule.share_id);
    return c.json({ access: rule });
  });
}

/** In a list it is known whose rule it is. */
function listedRule({ share_id, ...rule }: AccessRule): Omit<AccessRule, "share_id"> {
  void share_id;
  return rule;
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
    kernel.agenda.after(kernel.delay("share.extend"), "share.settle", `${share.id} ${change.status} available`);
    return c.body(null, 202);
  };
  const reset: Action = (c, { share, given }) => {
    requireAdmin(c);
    shares.update(share.id, { status: textAt(given, "status") ?? share.status });
    return c.body(null, 202);
  };
  return {
    extend: (c, { share, given }) => {
      const size = sizeOf(given);
      if (size <= share.size) {
        const why = `New size for extend must be greater than current size. (current: ${share.size}, extended: ${size}).`;
        throw computeError(400, `Invalid input received: ${why}`);
      }
      checkShareQuota(parts, share.project_id, { gigabytes: size - share.size });
      return resized(c, share, { status: "extending", size });
    },
    shrink: (c, { share, given }) => {
      const size = sizeOf(given);
      if (size >= share.size || size < 1) {
        const why = `New size for shrink must be less than current size and greater than 0 (current: ${share.size}, new: ${size})`;
        throw computeError(400, `Invalid input received: ${why}`);
      }
      return resized(c, share, { status: "shrinking", size });
    },
    reset_status: reset,
    force_delete: (c, { share }) => {
      requireAdmin(c);
      shares.update(share.id, { status: "deleting" });
      kernel.agenda.after(kernel.delay("share.delete"), "share.settle", `${share.id} deleting gone`);
      return c.body(null, 202);
    },
    allow_access: (c, { share, given }) => {
      const rule = rules.insert(askedRule(parts, share, given));
      kernel.agenda.after(kernel.delay("share.access"), "share.access", rule.id);
      return c.json({ access: rule });
    },
    deny_access: (c, { share, given }) => {
      const id = textAt(given, "access_id") ?? "";
      if (rules.get(id)?.share_id !== share.id) throw computeError(404, "The resource could not be found.");
      rules.update(id, { state: "queued_to_deny" });
      kernel.agenda.after(kernel.delay("share.access"), "share.access", id);
      return c.body(null, 202);
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
  if (rules.by("share_id", share.id).some((r) => r.access_type === type && r.access_to === to)) {
    throw computeError(400, `Share access ${type}:${to} exists.`);
  }
  if (level !== "rw" && level !== "ro")
    throw computeError(400, `Invalid access rule: Invalid share access level: ${level}.`);
  return {
    id: kernel.newId(),
    share_id: share.id,
    access_type: type,
    access_to: to,
    access_level: level,
    access_key: null,
    state: "queued_to_apply",
    metadata: {},
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
