import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import { invalid } from "../rules/create-request.ts";
import { adminActions } from "./admin-actions.ts";
import { moveActions, recordedMoves } from "./moves.ts";
import { resizeActions } from "./resize.ts";
import { snapshotActions } from "./snapshots.ts";
import type { Lifecycle } from "../rules/lifecycle.ts";
import { computeError, type ComputeApp, type ComputeParts, type Server } from "../model.ts";
import type { Action } from "../kit/action.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { requireState } from "./server-devices.ts";
import { orderedBy, requireUnlocked, serverOf } from "./servers.ts";

/** POST /servers/ID/action. */
export function mountActions(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  app.post("/v2.1/servers/:id/action", async (c) => {
    const body = await bodyOf(c.req);
    const server = serverOf(c, parts);
    const name = isObject(body) ? Object.keys(body)[0] : undefined;
    if (name === undefined) throw computeError(400, "Malformed request body");
    const action = actions[name];
    if (!action) throw computeError(400, `There is no such action: ${name}`);
    const answer = action({ c, parts, lifecycle, server, argument: at(body, name) });
    const now = parts.tables.servers.get(server.id);
    const recorded = recordedAs[name];
    if (now && recorded !== undefined) {
      lifecycle.note(now, { action: recorded, ...orderedBy(c) });
    }
    if (answer instanceof Response) return answer;
    return answer === undefined ? c.body(null, 202) : c.json(answer as object, 200);
  });
}

const recordedAs: Readonly<Record<string, string>> = {
  "os-start": "start",
  "os-stop": "stop",
  reboot: "reboot",
  lock: "lock",
  unlock: "unlock",
  "os-resetState": "resetState",
  ...recordedMoves,
};

/** A shelved and offloaded server has no host to return. */
function requireHost(server: Server): void {
  if (server.vm_state === "shelved_offloaded") throw computeError(409, `Instance ${server.id} is not ready`);
}

const actions: Readonly<Record<string, Action>> = {
  ...moveActions,
  ...resizeActions,
  ...snapshotActions,
  ...adminActions,
  "os-start": ({ c, lifecycle, server }) => {
    requireUnlocked(c, server);
    requireHost(server);
    requireState(server, ["stopped"], "start");
    lifecycle.begin(server, "powering-on", { state: "active", operation: "server.start" });
  },
  "os-stop": ({ c, lifecycle, server }) => {
    requireUnlocked(c, server);
    requireHost(server);
    requireState(server, ["active", "error"], "stop");
    lifecycle.begin(server, "powering-off", { state: "stopped", operation: "server.stop" });
  },
  reboot: ({ c, lifecycle, server, argument }) => {
    const type = textAt(argument, "type") ?? "";
    if (!/^(hard|soft)$/i.test(type)) {
      throw invalid("type", type, `${pythonRepr(type)} is not one of ['HARD', 'Hard', 'hard', 'SOFT', 'Soft', 'soft']`);
    }
    requireUnlocked(c, server);
    const hard = /^hard$/i.test(type);
    requireState(server, hard ? ["active", "stopped", "paused", "suspended", "error"] : ["active"], "reboot");
    const task = hard ? "reboot_started_hard" : "reboot_started";
    lifecycle.begin(server, task, { state: "active", operation: "server.reboot" });
  },
  lock: ({ lifecycle, server, argument }) => {
    lifecycle.touch(server.id, { locked: true, locked_reason: textAt(argument, "locked_reason") ?? null });
  },
  unlock: ({ lifecycle, server }) => {
    lifecycle.touch(server.id, { locked: false, locked_reason: null });
  },
  "os-getConsoleOutput": ({ server, argument }) => {
    if (server.vm_state === "building") throw computeError(409, `Instance ${server.id} is not ready`);
    const lines = ["FAKE CONSOLE OUTPUT", "ANOTHER", "LAST LINE"];
    const length = at(argument, "length");
    const asked = length === undefined || length === null ? lines.length : Number(length);
    return { output: asked < 0 ? lines.join("\n") : lines.slice(Math.max(0, lines.length - asked)).join("\n") };
  },
};
