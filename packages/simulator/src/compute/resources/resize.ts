import { textAt } from "../../kernel/json.ts";
import type { Action, ActionContext } from "../kit/action.ts";
import { invalid, reachOf } from "../rules/create-request.ts";
import { flavorFor } from "../rules/usable-flavors.ts";
import { checkQuota } from "../rules/limits.ts";
import { computeError, requireAdmin, type Flavor, type Migration } from "../model.ts";
import { requireState } from "./server-devices.ts";
import { requireUnlocked } from "./servers.ts";

/** Another size or another host, to be confirmed or reverted. */
export const resizeActions: Readonly<Record<string, Action>> = {
  resize: (doing) => {
    const { c, parts, server, argument } = doing;
    const asked = textAt(argument, "flavorRef");
    if (asked === undefined) throw invalid("resize", argument, "'flavorRef' is a required property");
    requireUnlocked(c, server);
    requireState(server, ["active", "stopped"], "resize");
    const flavor = flavorFor(parts.tables, c.get("caller"), asked.slice(asked.lastIndexOf("/") + 1));
    if (!flavor) throw computeError(400, "Unable to locate requested flavor.");
    if (flavor.id === server.flavor.id) throw computeError(400, "When resizing, instances must change flavor!");
    if (flavor.disk === 0 && server.flavor.disk !== 0 && server.image_id !== "") {
      throw computeError(
        400,
        "Server disk was unable to be resized because: Resize to zero disk flavor is not allowed.",
      );
    }
    const more = {
      cores: Math.max(0, flavor.vcpus - server.flavor.vcpus),
      ram: Math.max(0, flavor.ram - server.flavor.ram),
    };
    checkQuota(parts, server.project_id, { instances: 0, ...more });
    parts.tables.servers.update(server.id, reachOf(argument));
    move({ ...doing, server: parts.tables.servers.get(server.id) ?? server }, { flavor, type: "resize" });
  },
  migrate: (doing) => {
    const { c, server } = doing;
    requireAdmin(c.get("caller"), "os-migrate-server:migrate");
    requireUnlocked(c, server);
    requireState(server, ["active", "stopped"], "migrate");
    move(doing, { flavor: server.flavor, type: "migration" });
  },
  confirmResize: ({ c, parts, lifecycle, server }) => {
    requireUnlocked(c, server);
    requireState(server, ["resized"], "confirmResize");
    const state = server.before?.vm_state ?? "active";
    settleMigration(parts.tables.migrations, server.before?.migration, "confirmed");
    lifecycle.touch(server.id, { vm_state: state, task_state: null, before: null });
    return new Response(null, { status: 204 });
  },
  revertResize: ({ c, parts, lifecycle, server }) => {
    requireUnlocked(c, server);
    requireState(server, ["resized"], "revertResize");
    settleMigration(parts.tables.migrations, server.before?.migration, "reverted");
    const state = server.before?.vm_state ?? "active";
    lifecycle.begin(server, "resize_reverting", { state, operation: "server.resize" });
  },
};

function settleMigration(
  table: ActionContext["parts"]["tables"]["migrations"],
  id: string | undefined,
  status: string,
): void {
  if (id !== undefined && table.get(id)) table.update(id, { status });
}

function move(
  { c, parts, lifecycle, server }: ActionContext,
  { flavor, type }: { flavor: Flavor; type: Migration["type"] },
): void {
  const now = parts.kernel.timestamp();
  const { migrations } = parts.tables;
  const migration = migrations.insert({
    id: parts.kernel.newId(),
    number: migrations.all().length + 1,
    server_id: server.id,
    project_id: server.project_id,
    user_id: c.get("caller").userId,
    type,
    status: "finished",
    old_flavor: server.flavor.id,
    new_flavor: flavor.id,
    zone: server.zone,
    created_at: now,
    updated_at: now,
  });
  const before = { flavor: server.flavor, vm_state: server.vm_state, migration: migration.id };
  const waiting = lifecycle.touch(server.id, { before, next_flavor: flavor });
  lifecycle.begin(waiting, "resize_prep", { state: "resized", operation: "server.resize" });
}
