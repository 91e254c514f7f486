import { textAt } from "../../kernel/json.ts";
import type { Action } from "../kit/action.ts";
import { invalid } from "../rules/create-request.ts";
import { computeError, requireAdmin, zones } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { requireState } from "./server-devices.ts";

/** Orders of administrators. */
export const adminActions: Readonly<Record<string, Action>> = {
  "os-resetState": (doing) => {
    const { lifecycle, server, argument } = doing;
    const state = textAt(argument, "state");
    if (state !== "active" && state !== "error") {
      throw invalid("state", state, `${pythonRepr(state)} is not one of ['active', 'error']`);
    }
    requireAdmin(doing.c.get("caller"), "os-admin-actions:reset_state");
    lifecycle.touch(server.id, { vm_state: state, task_state: null });
  },
  resetNetwork: (doing) => {
    requireAdmin(doing.c.get("caller"), "os-admin-actions:reset_network");
    throw computeError(410, "");
  },
  injectNetworkInfo: (doing) => {
    requireAdmin(doing.c.get("caller"), "os-admin-actions:inject_network_info");
    requireState(doing.server, ["active", "paused", "suspended", "stopped"], "inject_network_info");
  },
  "os-migrateLive": (doing) => {
    const { server, argument } = doing;
    requireAdmin(doing.c.get("caller"), "os-migrate-server:migrate_live");
    requireState(server, ["active", "paused"], "os-migrateLive");
    requireHost(textAt(argument, "host"));
  },
  evacuate: (doing) => {
    const { server, argument } = doing;
    requireAdmin(doing.c.get("caller"), "os-evacuate");
    requireState(server, ["active", "stopped", "error"], "evacuate");
    requireHost(textAt(argument, "host"));
    const host = zones[server.zone] ?? "";
    throw computeError(400, `Compute service of ${host} is still in use.`);
  },
};

function requireHost(host: string | undefined): void {
  if (host === undefined || Object.values(zones).includes(host)) return;
  throw computeError(400, `Compute host ${host} could not be found.`);
}
