import type { WantedCondition } from "@causeway/kubernetes";
import type { Port, Server, Volume } from "@causeway/openstack";
import { MEMBER_LEAVES_WITHIN } from "../openstackcluster/members.ts";
import { serverOwnerKey } from "../resources/naming.ts";
import type { MachineContext } from "./model.ts";
import type { MachineStep } from "./steps.ts";
import { markOf, portMarks } from "./ports.ts";
import { isGone, isProven, ownVolumes, recordedServerId } from "./server.ts";
import { claimName } from "./floating-ip.ts";
import { trunkDeletions } from "./trunks.ts";
import type { Outcome } from "./outcome.ts";

const reason = "InstanceDeleteFailed";
/** Milliseconds after which it is checked whether the cloud still accepts the credentials: no change would say so. */
const CHECK_AGAIN = 15_000;

/** Milliseconds after which it is checked whether the member of the API's load balancer was removed. */
const CHECK_MEMBERS_AGAIN = 2_000;

/**
 * Takes the server away, then what was made for it and did not go along. It goes by marks, not by records, so
 * that a creation cut short at any point leaves nothing.
 */
export function planMachineDeletion(context: MachineContext, now: number): Outcome {
  const servers = ownServers(context);
  const toDelete = servers.filter((s) => s["OS-EXT-STS:task_state"] !== "deleting");
  const steps = toDelete.map((s): MachineStep => ({ type: "delete-server", reason, id: s.id }));
  const serving = steps.length > 0 ? servingPool(context, now) : undefined;
  if (serving !== undefined) return waitFor(`the member in pool ${serving} to be removed`, now + CHECK_MEMBERS_AGAIN);
  if (steps.length > 0) return outcome(steps, "Deleting the server");
  if (servers.length > 0) return waitFor(`server ${servers[0]?.id} to be deleted`, now + CHECK_AGAIN);
  const ports = ownPorts(context);
  const trunks = trunkDeletions(ports, reason);
  if (trunks.length > 0) return outcome(trunks, "Deleting the trunks");
  const free = ports.map((p): MachineStep => ({ type: "delete-port", reason, id: p.id, name: p.name }));
  if (free.length > 0) return outcome(free, "Deleting the ports");
  const volumes = ownVolumes(context);
  const left = volumes
    .filter((v) => isFree(v))
    .map((v): MachineStep => ({ type: "delete-volume", reason, id: v.id, name: v.name }));
  if (left.length > 0) return outcome(left, "Deleting the volumes");
  if (volumes.length > 0) return waitFor(`volume ${volumes[0]?.name} to go; it is ${volumes[0]?.status}`, now + 5_000);
  const claim: MachineStep[] = context.claim ? [{ type: "delete-claim", reason, name: claimName(context.object) }] : [];
  const done = outcome([...claim, { type: "remove-finalizer", reason }], "Deleted");
  const kept = keptServer(context);
  if (!kept) return done;
  const message = `Server ${kept.name} (${kept.id}) is kept: it was recorded for this machine, which did not create it`;
  return { ...done, events: [{ type: "Warning", reason: "ServerKept", message }] };
}

/** The pool of the API's load balancer that connections still come from; not for ever, for Octavia may be failing. */
function servingPool({ object, endpointPools = [] }: MachineContext, now: number): string | undefined {
  const deleted = Date.parse(object.metadata.deletionTimestamp ?? "");
  return now < deleted + MEMBER_LEAVES_WITHIN ? endpointPools[0] : undefined;
}

/**
 * Servers with our mark, and the recorded one if it has the machine's name or other proof: an ID alone can be of any
 * server.
 */
function ownServers(context: MachineContext): Server[] {
  const recorded = recordedServerId(context);
  return context.cloud.servers.filter((s) => {
    if (isGone(s)) return false;
    if (s.id === recorded) return s.name === context.name || isProven(context, s) || marked(context, s);
    return s.name === context.name && marked(context, s);
  });
}

function marked({ ownerMark }: MachineContext, server: Server): boolean {
  return server.metadata[serverOwnerKey] === ownerMark;
}

/** The recorded server, where it is not this machine's. */
function keptServer(context: MachineContext): Server | undefined {
  const recorded = recordedServerId(context);
  return context.cloud.servers.find((s) => s.id === recorded && !isGone(s));
}

/**
 * Ports by recorded id, or by the name and description that the spec gives them. A port may still name the
 * server that has just gone; one that a living server has is left alone.
 */
function ownPorts({ object, name, crn, cloud }: MachineContext): Port[] {
  const recorded = new Set((object.status?.resources?.ports ?? []).map((p) => p.id));
  const marks = portMarks(object, { name, crn });
  const living = new Set(cloud.servers.filter((s) => !isGone(s)).map((s) => s.id));
  return cloud.ports.filter(
    (p) =>
      p.project_id === cloud.projectId && !living.has(p.device_id) && (recorded.has(p.id) || marks.includes(markOf(p))),
  );
}

/** Volumes that are still being made cannot be deleted; those being deleted need no second call. */
function isFree(volume: Volume): boolean {
  return volume.status === "available" || volume.status.startsWith("error");
}

function finding(message: string): WantedCondition {
  return { type: "InstanceReady", status: "False", reason: "InstanceDeleting", message };
}

function outcome(steps: readonly MachineStep[], message: string): Outcome {
  return { steps, finding: finding(message) };
}

function waitFor(what: string, until?: number): Outcome {
  const wait = { for: what, ...(until === undefined ? {} : { until }) };
  return { steps: [], finding: finding(`Waiting for ${what}`), wait };
}
