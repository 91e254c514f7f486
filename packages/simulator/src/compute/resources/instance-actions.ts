import { computeError, type ComputeApp, type ComputeParts, type InstanceAction, type Server } from "../model.ts";
import { instantOf, page } from "../listing.ts";
import { serverOf } from "./servers.ts";
import { hostId, hostOf, nextLink, type ComputeContext } from "../views.ts";

/**
 * What Nova's conductor and hosts note while they do an action, in the order of their beginning; recorded on a real
 * cloud.
 */
const eventsOf: Readonly<Record<string, readonly string[]>> = {
  create: ["compute__do_build_and_run_instance"],
  delete: ["compute_terminate_instance"],
  start: ["compute_start_instance"],
  stop: ["compute_stop_instance"],
  reboot: ["compute_reboot_instance"],
  lock: ["api_lock"],
  unlock: ["api_unlock"],
  pause: ["compute_pause_instance"],
  unpause: ["compute_unpause_instance"],
  suspend: ["compute_suspend_instance"],
  resume: ["compute_resume_instance"],
  rescue: ["compute_rescue_instance"],
  unrescue: ["compute_unrescue_instance"],
  shelve: ["compute_shelve_instance"],
  unshelve: ["get_image_info", "schedule_instances", "compute_unshelve_instance"],
  rebuild: ["rebuild_server", "compute_rebuild_instance"],
  resize: [
    "conductor_migrate_server",
    "cold_migrate",
    "compute_prep_resize",
    "compute_resize_instance",
    "compute_finish_resize",
  ],
  confirmResize: ["compute_confirm_resize"],
  revertResize: ["compute_revert_resize", "compute_finish_revert_resize"],
  createImage: ["compute_snapshot_instance"],
  createBackup: ["compute_backup_instance"],
  trigger_crash_dump: ["compute_trigger_crash_dump"],
  attach_interface: ["compute_attach_interface"],
  detach_interface: ["compute_detach_interface"],
  attach_volume: ["compute_attach_volume"],
  detach_volume: ["compute_detach_volume"],
  extend_volume: ["compute_extend_volume"],
};

/**
 * What was done to a server, https://docs.openstack.org/api-ref/compute/#servers-actions-servers-os-instance-actions .
 */
export function mountInstanceActions(app: ComputeApp, parts: ComputeParts): void {
  app.get("/v2.1/servers/:id/os-instance-actions", (c) => {
    const server = evenDeleted(c, parts);
    const minor = c.get("minor");
    const { actions, more } = minor >= 58 ? listed(c, server) : { actions: server.actions, more: false };
    const last = more ? actions.at(-1) : undefined;
    return c.json({
      instanceActions: actions.map((action) => view(server, action, minor)),
      ...(last ? { links: [{ rel: "next", href: nextLink(c, last.request_id) }] } : {}),
    });
  });
  app.get("/v2.1/servers/:id/os-instance-actions/:request", (c) => {
    const server = evenDeleted(c, parts);
    const request = c.req.param("request");
    const action = server.actions.find((a) => a.request_id === request);
    if (!action) {
      throw computeError(404, `Action for request_id ${request} on instance ${server.id} not found`);
    }
    return c.json({ instanceAction: { ...view(server, action, c.get("minor")), ...events(c, server, action) } });
  });
}

/** From 2.21 what was done to a server can be read after its end. */
function evenDeleted(c: ComputeContext, parts: ComputeParts): Server {
  const dead = c.get("minor") >= 21 ? parts.tables.deleted.get(c.req.param("id") ?? "") : undefined;
  const { projectId, isAdmin } = c.get("caller");
  return dead && (dead.project_id === projectId || isAdmin) ? dead : serverOf(c, parts);
}

/** From 2.58 they come by pages and by time. */
function listed(c: ComputeContext, { actions }: Server) {
  const query = new URL(c.req.url).searchParams;
  const known = ["limit", "marker", "changes-since", ...(c.get("minor") >= 66 ? ["changes-before"] : [])];
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw computeError(400, `Additional properties are not allowed ('${unknown}' was unexpected)`);
  }
  const [since, before] = [instantOf(query, "changes-since"), instantOf(query, "changes-before")];
  if (since !== undefined && before !== undefined && since > before) {
    throw computeError(400, "The value of changes-since must be less than or equal to changes-before.");
  }
  const marker = query.get("marker");
  if (marker !== null && !actions.some((action) => action.request_id === marker)) {
    // So the real one says, whatever the marker is.
    throw computeError(400, "Marker None could not be found.");
  }
  const within = ({ updated_at }: InstanceAction): boolean => {
    const at = Date.parse(updated_at);
    return (since === undefined || at >= Math.floor(since / 1000) * 1000) && (before === undefined || at <= before);
  };
  const rows = actions.filter(within).map((action) => ({ ...action, id: action.request_id }));
  const { servers, more } = page(rows, query);
  return { actions: servers, more };
}

const instant = (timestamp: string): string => timestamp.replace(/Z$/, ".000000");

const view = (server: Server, action: InstanceAction, minor: number) => ({
  action: action.action,
  instance_uuid: server.id,
  request_id: action.request_id,
  user_id: action.user_id,
  project_id: server.project_id,
  start_time: instant(action.start_time),
  message: action.message,
  ...(minor >= 58 ? { updated_at: instant(action.updated_at) } : {}),
});

/** The newest first. Members see them from 2.51 on; hosts and what went wrong are for administrators. */
function events(c: ComputeContext, server: Server, action: InstanceAction): object {
  const [{ isAdmin }, minor] = [c.get("caller"), c.get("minor")];
  if (!isAdmin && minor < 51) return {};
  const isRunning = server.task_state !== null && action === server.actions[0];
  const end = isRunning
    ? { finish_time: null, result: null }
    : { finish_time: instant(action.updated_at), result: "Success" };
  const named = (eventsOf[action.action] ?? []).map((event) => ({
    event,
    start_time: instant(action.start_time),
    ...end,
    ...(isAdmin ? { traceback: null } : {}),
    ...(isAdmin && minor >= 62 ? { host: hostOf(server) } : {}),
    ...(minor >= 62 ? { hostId: hostId(server) } : {}),
    ...(isAdmin && minor >= 84 ? { details: null } : {}),
  }));
  return { events: named.toReversed() };
}
