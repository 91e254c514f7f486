import { randomBytes } from "node:crypto";
import { at, isObject, textAt } from "../../kernel/json.ts";
import { imageVisible } from "../../image/model.ts";
import type { Action, ActionContext } from "../kit/action.ts";
import { filesOf, invalid, metadataOf, reachOf } from "../rules/create-request.ts";
import { checkFiles } from "../rules/create.ts";
import { computeError, type Server, type VmState } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { requireState } from "./server-devices.ts";
import { requireUnlocked } from "./servers.ts";
import { imageOf } from "./snapshots.ts";
import { changedView } from "../views.ts";

/** An order that leads from some states through a task to one. */
interface Move {
  readonly from: readonly VmState[];
  /** As refusals name it. */
  readonly verb: string;
  readonly task: string;
  readonly to: VmState;
  readonly operation: string;
}

const shelvable: readonly VmState[] = ["active", "stopped", "paused", "suspended"];

const moves: Readonly<Record<string, Move>> = {
  pause: { from: ["active"], verb: "pause", task: "pausing", to: "paused", operation: "server.pause" },
  unpause: { from: ["paused"], verb: "unpause", task: "unpausing", to: "active", operation: "server.pause" },
  suspend: { from: ["active"], verb: "suspend", task: "suspending", to: "suspended", operation: "server.suspend" },
  resume: { from: ["suspended"], verb: "resume", task: "resuming", to: "active", operation: "server.suspend" },
  unrescue: { from: ["rescued"], verb: "unrescue", task: "unrescuing", to: "active", operation: "server.rescue" },
  shelve: { from: shelvable, verb: "shelve", task: "shelving", to: "shelved_offloaded", operation: "server.shelve" },
  unshelve: {
    from: ["shelved_offloaded"],
    verb: "unshelve",
    task: "spawning",
    to: "active",
    operation: "server.shelve",
  },
};

/** Actions of a server that `os-instance-actions` records, and the names it records them by. */
export const recordedMoves: Readonly<Record<string, string>> = {
  pause: "pause",
  unpause: "unpause",
  suspend: "suspend",
  resume: "resume",
  rescue: "rescue",
  unrescue: "unrescue",
  shelve: "shelve",
  unshelve: "unshelve",
  rebuild: "rebuild",
  changePassword: "changePassword",
  resize: "resize",
  confirmResize: "confirmResize",
  revertResize: "revertResize",
  createImage: "createImage",
  createBackup: "createBackup",
  migrate: "migrate",
  "os-migrateLive": "live-migration",
  trigger_crash_dump: "trigger_crash_dump",
};

const moved =
  (move: Move): Action =>
  (doing) => {
    const { c, lifecycle, server } = doing;
    requireUnlocked(c, server);
    requireState(server, move.from, move.verb);
    if (move.verb === "shelve" && server.image_id !== "")
      imageOf(doing, { name: `${server.name}-shelved`, properties: { image_type: "snapshot" } });
    if (move.verb === "unshelve") dropShelved(doing);
    lifecycle.begin(server, move.task, { state: move.to, operation: move.operation });
  };

/** Removes what was kept of a shelved server's disk. */
function dropShelved({ parts, server }: ActionContext): void {
  const kept = parts.tables.images.by("name", `${server.name}-shelved`);
  for (const { id, properties } of kept) if (properties["instance_uuid"] === server.id) parts.tables.images.remove(id);
}

const password = (argument: unknown): string => textAt(argument, "adminPass") ?? randomBytes(9).toString("base64url");

/** Orders that change what a server does, not what it is. */
export const moveActions: Readonly<Record<string, Action>> = {
  ...Object.fromEntries(Object.entries(moves).map(([name, move]) => [name, moved(move)])),
  shelveOffload: ({ server }) => requireState(server, [], "shelve_offload"),
  restore: ({ server }) => requireState(server, [], "restore"),
  forceDelete: ({ c, lifecycle, server }) => {
    requireUnlocked(c, server);
    lifecycle.delete(server);
  },
  trigger_crash_dump: ({ c, server }) => {
    requireUnlocked(c, server);
    requireState(server, ["active", "paused", "rescued", "resized", "error"], "trigger_crash_dump");
  },
  changePassword: ({ c, server, argument }) => {
    if (textAt(argument, "adminPass") === undefined) {
      throw invalid("changePassword", argument, "'adminPass' is a required property");
    }
    requireUnlocked(c, server);
    requireState(server, ["active"], "changePassword");
  },
  rescue: (doing) => {
    const { c, lifecycle, server, argument } = doing;
    requireUnlocked(c, server);
    requireState(server, ["active", "stopped", "error"], "rescue");
    const asked = textAt(argument, "rescue_image_ref");
    if (asked !== undefined) requireImage(doing, asked);
    lifecycle.begin(server, "rescuing", { state: "rescued", operation: "server.rescue" });
    return { adminPass: password(argument) };
  },
  rebuild,
  addSecurityGroup: (doing) => changeGroups(doing, "add"),
  removeSecurityGroup: (doing) => changeGroups(doing, "remove"),
};

function requireImage({ c, parts }: ActionContext, id: string): void {
  const image = parts.tables.images.get(id);
  const { projectId, isAdmin } = c.get("caller");
  if (!image || !imageVisible(image, projectId, isAdmin)) throw computeError(400, "Cannot find image for rebuild");
}

/** The server from its image again: same id, ports and volumes. Answers what GET would, and the password. */
function rebuild(doing: ActionContext): Response {
  const { c, parts, lifecycle, server, argument } = doing;
  if (!isObject(argument)) throw invalid("rebuild", argument, `${pythonRepr(argument)} is not of type 'object'`);
  const image = textAt(argument, "imageRef");
  if (image === undefined) throw invalid("rebuild", argument, "'imageRef' is a required property");
  requireUnlocked(c, server);
  requireImage(doing, image);
  requireState(server, ["active", "stopped", "error"], "rebuild");
  const files = filesOf(argument["personality"] ?? []);
  checkFiles(parts, server.project_id, files);
  const name = textAt(argument, "name");
  const description = at(argument, "description");
  const reached = reachOf(argument);
  const changed = lifecycle.touch(server.id, {
    image_id: image,
    fault: null,
    ...reached,
    ...(files.length === 0 ? {} : { files }),
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(typeof description === "string" ? { description } : {}),
    ...(argument["metadata"] === undefined ? {} : { metadata: metadataOf(argument["metadata"]) }),
    ...(typeof argument["user_data"] === "string" ? { user_data: argument["user_data"] } : {}),
  });
  const state = server.vm_state === "stopped" ? "stopped" : "active";
  lifecycle.begin(changed, "rebuilding", { state, operation: "server.rebuild" });
  const now = parts.tables.servers.get(server.id) ?? changed;
  const minor = c.get("minor");
  const { "OS-EXT-SRV-ATTR:user_data": _twice, ...view } = changedView(c, parts, now);
  const masked = {
    ...(minor >= 54 ? { key_name: now.key_name } : {}),
    ...(minor >= 57 ? { user_data: now.user_data } : {}),
  };
  return c.json({ server: { ...view, ...masked, adminPass: password(argument) } }, 202);
}

function changeGroups({ c, parts, server, argument }: ActionContext, verb: "add" | "remove"): void {
  const name = textAt(argument, "name")?.trim() ?? "";
  if (name === "") throw computeError(400, "Missing parameter dict");
  requireUnlocked(c, server);
  const known = parts.network.hasSecurityGroup(server.project_id, name);
  if (!known) {
    const why = `Unable to find security_group with name or id '${name}'`;
    throw computeError(verb === "add" ? 400 : 404, verb === "add" ? why : `Security group ${name} not found.`);
  }
  const ports = parts.network.portsOf(server.id);
  const changed = ports.filter((port) => parts.network.changeSecurityGroup(port.id, { verb, group: name }));
  if (changed.length > 0 || verb === "add") return;
  throw computeError(404, groupMissing(name, server));
}

const groupMissing = (name: string, server: Server): string =>
  `Security group ${name} not associated with the instance ${server.id}`;
