import type { ResolvedMachine, ResolvedPort } from "@causeway/api";
import type { WantedCondition } from "@causeway/kubernetes";
import type { Port, Server } from "@causeway/openstack";
import type { MachineContext } from "./model.ts";
import { planLostPorts } from "./lost-ports.ts";
import { planPortUpdates } from "./port-updates.ts";
import { planServerLabels, type ServerLabels } from "./server-labels.ts";
import type { MachineStep } from "./steps.ts";
import { resolvePorts } from "./ports.ts";
import { planRunningTrunks, TRUNK_UPDATE_FAILED } from "./running-trunks.ts";
import { planSubports } from "./subports.ts";

/** The condition of changes to a running server. Their failure says nothing about the server. */
export const updatesCondition = "UpdatesApplied";

/** Changes of a running server that follow from the spec, and what the server will then have been given. */
export interface Updates {
  readonly steps: readonly MachineStep[];
  readonly resolved: Partial<ResolvedMachine>;
  readonly more: readonly WantedCondition[];
  /** Until when a refused change is left alone. */
  readonly wait?: { readonly for: string; readonly until: number };
  /** IDs of ports that are gone and not replaced yet: the record of them is kept until they are. */
  readonly lostIds: readonly string[];
}

const none: Updates = { steps: [], resolved: {}, more: [], lostIds: [] };

/** Changes of the ports, their trunks, tags and metadata of a server that has been ACTIVE before. */
export function planUpdates(context: MachineContext, server: Server, ports: readonly Port[]): Updates {
  const before = context.object.status?.resolved;
  // Which groups and tags the cluster gives is known only while its object is there.
  const isKnown = context.infrastructure !== undefined || !context.recordsProviderId;
  if (server.status !== "ACTIVE" || server["OS-EXT-STS:task_state"] || !isKnown || !groupsAreKnown(context))
    return none;
  const { ports: wanted, problems } = resolvePorts(context);
  if (problems.length > 0) return none;
  const labels = planServerLabels(context, server);
  const lost = planLostPorts(context, server, { ports, wanted });
  const trunks = planRunningTrunks(context, ports, wanted);
  const subports = planSubports(context, ports, wanted);
  const problem = [subports, trunks].flatMap(({ problem: one }) => one ?? []).join(". ") || undefined;
  const steps = [
    ...planPortUpdates(context, ports, wanted),
    ...subports.steps,
    ...lost.steps,
    ...labels.steps,
    ...trunks.steps,
  ];
  const { hold } = context;
  const due = steps.filter((step) => !isHeld(step, hold));
  return {
    steps: due,
    ...(hold && due.length < steps.length ? { wait: { for: hold.message, until: hold.until } } : {}),
    resolved: before ? resolvedOf(before, { steps, problem, wanted, labels }) : {},
    more: conditionOf(context, problem),
    lostIds: lost.ids,
  };
}

/** A refused change of a trunk holds back changes of trunks alone. */
function isHeld({ reason }: MachineStep, hold: MachineContext["hold"]): boolean {
  if (hold?.type !== updatesCondition) return false;
  return hold.reason !== TRUNK_UPDATE_FAILED || reason === TRUNK_UPDATE_FAILED;
}

/** What was refused before is in the condition already. */
function conditionOf({ object, hold }: MachineContext, problem: string | undefined): WantedCondition[] {
  if (hold?.type === updatesCondition) return [];
  const type = updatesCondition;
  if (problem !== undefined) return [{ type, status: "False", reason: TRUNK_UPDATE_FAILED, message: problem }];
  const wasFalse = object.status?.conditions?.some((c) => c.type === type && c.status !== "True");
  return wasFalse ? [{ type, status: "True", reason: type }] : [];
}

function groupsAreKnown({ infrastructure }: MachineContext): boolean {
  const { spec, status } = infrastructure ?? {};
  if (!spec?.managedSecurityGroups) return true;
  return status?.workerSecurityGroup !== undefined && status.controlPlaneSecurityGroup !== undefined;
}

interface Done {
  readonly steps: readonly MachineStep[];
  readonly problem: string | undefined;
  readonly wanted: readonly ResolvedPort[];
  readonly labels: ServerLabels;
}

/** What is done is recorded; a trunk that cannot become as the spec says holds back the record of trunks alone. */
function resolvedOf(before: ResolvedMachine, { steps, problem, wanted, labels }: Done): Partial<ResolvedMachine> {
  if (steps.some(({ reason }) => reason !== TRUNK_UPDATE_FAILED)) return {};
  if (steps.length === 0 && problem === undefined)
    return { ports: recordedPorts(before, wanted), ...recordedLabels(before, labels) };
  const ports = (before.ports ?? []).map((known) => {
    const port = known.parent === undefined ? wanted.find(({ name }) => name === known.name) : undefined;
    return port ? changedInPlace(known, port, known.trunk) : known;
  });
  return { ...(before.ports ? { ports } : {}), ...recordedLabels(before, labels) };
}

/** What is recorded of names that were resolved remains; what may change in place is recorded as it is now. */
function recordedPorts(before: ResolvedMachine, wanted: readonly ResolvedPort[]): ResolvedPort[] {
  const old = before.ports ?? [];
  return wanted.flatMap((port): ResolvedPort[] => {
    const known = old.find(({ name }) => name === port.name);
    if (known) return [changedInPlace(known, port, port.trunk)];
    // A port that is new in the spec is not given to a running server.
    return port.parent !== undefined || old.length === 0 ? [port] : [];
  });
}

function changedInPlace(known: ResolvedPort, port: ResolvedPort, trunk: boolean | undefined): ResolvedPort {
  const { securityGroups: _groups, tags: _tags, allowedAddressPairs: _pairs, trunk: _trunk, ...kept } = known;
  const { securityGroups, tags, allowedAddressPairs } = port;
  return {
    ...kept,
    ...(trunk === undefined ? {} : { trunk }),
    ...(port.segmentationID === undefined ? {} : { segmentationID: port.segmentationID }),
    ...(securityGroups ? { securityGroups } : {}),
    ...(tags ? { tags } : {}),
    ...(allowedAddressPairs ? { allowedAddressPairs } : {}),
  };
}

function recordedLabels(before: ResolvedMachine, { tags, metadataKeys }: ServerLabels): Partial<ResolvedMachine> {
  return {
    ...(tags.length > 0 || before.tags ? { tags: [...tags] } : {}),
    ...(metadataKeys.length > 0 || before.metadataKeys ? { metadataKeys: [...metadataKeys] } : {}),
  };
}
