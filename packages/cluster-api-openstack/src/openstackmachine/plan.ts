import type { OpenStackMachineStatus, ResolvedMachine } from "@causeway/api";
import { isDeleting, setConditions, type Plan, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import type { Port, Server } from "@causeway/openstack";
import { summarise } from "../resources/findings.ts";
import { adoptAnnotation, clusterResourceName, machineFinalizer, serverOwner } from "../resources/naming.ts";
import type { Hold, Unopened } from "../identity/state.ts";
import { wrongCloud } from "../openstackcluster/identity.ts";
import { planBuild } from "./build.ts";
import { planEndpointHook } from "./endpoint-hook.ts";
import { planMachineDeletion } from "./deletion.ts";
import { markOf, portMarks } from "./ports.ts";
import { ignoredChanges } from "./immutable.ts";
import type { MachineCloud, MachineContext, Observed } from "./model.ts";
import type { MachineStep } from "./steps.ts";
import type { Outcome } from "./outcome.ts";
import { listsToRefresh, type ListNames } from "./lists.ts";
import { missingPrerequisite } from "./prerequisites.ts";
import { planAddress } from "./floating-ip.ts";
import { planUpdates, updatesCondition } from "./updates.ts";
import { resolveSpec } from "./resolve.ts";
import { findServer, isProven, machineAddresses, otherServers, providerId, recordedServerId } from "./server.ts";

/** The steps, status and events of an OpenStackMachine. */
export interface MachinePlan extends Plan<MachineStep, OpenStackMachineStatus> {
  /** Lists of the cloud to be read soon. */
  readonly refresh?: ListNames;
}

const slow = 60_000;

/** What an OpenStackMachine needs next, and which lists of the cloud will show it. Pure, as every plan. */
export function plan(observed: Observed, now: number): MachinePlan {
  const next = withEndpointHook(observed, planObject(observed, now), now);
  return { ...next, refresh: listsToRefresh(observed, next.wait !== undefined) };
}

/**
 * The hook comes last: a refusal of it stops nothing else. Only the object itself remains until the hook is gone: no
 * other one removes it, and the Machine would wait for ever.
 */
function withEndpointHook(observed: Observed, next: MachinePlan, now: number): MachinePlan {
  const { step, until } = observed.paused ? {} : planEndpointHook(observed, now);
  if (step) {
    const isLeft = (each: MachineStep): boolean => each.type === "remove-finalizer";
    return { ...next, steps: [...next.steps.filter((each) => !isLeft(each)), step, ...next.steps.filter(isLeft)] };
  }
  if (until === undefined) return next;
  return {
    ...next,
    wait: { for: "its member to be removed", ...next.wait, until: Math.min(until, next.wait?.until ?? until) },
  };
}

function planObject(observed: Observed, now: number): MachinePlan {
  const { object, identity, hold } = observed;
  const status = object.status ?? {};
  if (observed.paused) return { steps: [], status };
  const deleting = isDeleting(object);
  if (deleting && !object.metadata.finalizers?.includes(machineFinalizer)) return { steps: [], status };
  if (!deleting) {
    const early = missingPrerequisite(observed);
    if (early) return finish(observed, early, now);
  }
  if (!identity.ok) return finish(observed, unopened(observed, identity, now), now);
  const inherited = object.spec.identityRef === undefined && observed.infrastructure;
  const elsewhere = inherited ? wrongCloud(inherited, identity.cloud.identity) : undefined;
  if (elsewhere !== undefined) return finish(observed, unauthenticated("WrongCloud", elsewhere, now), now);
  const context = contextOf(observed, identity.cloud);
  if (isHeld(hold, { deleting, now })) return finish(observed, heldBack(hold), now);
  if (deleting) return finish(observed, planMachineDeletion(context, now), now);
  return finish(observed, planPresent(context, now), now);
}

/** True while nothing is to be done. A refused change of a running server holds only such changes back. */
export function isHeld(
  hold: Hold | undefined,
  { deleting, now }: { readonly deleting: boolean; readonly now: number },
): hold is Hold {
  return hold !== undefined && hold.until > now && (deleting || hold.type !== updatesCondition);
}

/** A step was refused a moment ago: nothing is done until the hold is over. */
export function heldBack({ reason, message, until }: Hold): Outcome {
  const finding: WantedCondition = { type: "InstanceReady", status: "False", reason, message };
  return { steps: [], finding, wait: { for: message, until } };
}

function contextOf(observed: Observed, cloud: MachineCloud): MachineContext {
  const { object, clusterName = "", infrastructure, owner } = observed;
  const namespace = object.metadata.namespace ?? "";
  return {
    object,
    name: object.metadata.name,
    crn: clusterResourceName(namespace, clusterName),
    ownerMark: serverOwner(namespace, clusterName),
    cloud,
    infrastructure,
    owner,
    image: observed.image,
    claim: observed.claim,
    hold: observed.hold,
    endpointPools: observed.endpointPools,
    finalizer: machineFinalizer,
    recordsProviderId: true,
  };
}

/** No session with the cloud. One that limits the rate of requests is no failure: the condition is as it was. */
export function unopened(
  { object }: { readonly object: Pick<Observed["object"], "status"> },
  { reason, message, until }: Unopened,
  now: number,
): Outcome {
  if (until === undefined) return unauthenticated(reason, message, now);
  const known = object.status?.conditions?.find((c) => c.type === "InstanceReady");
  const finding: WantedCondition = known ?? { type: "InstanceReady", status: "Unknown", reason, message };
  return { steps: [], finding, wait: { for: message, until } };
}

/** No session with the cloud: InstanceReady is False, and the plan waits a minute for credentials that work. */
export function unauthenticated(reason: string, message: string, now: number): Outcome {
  return {
    steps: [],
    finding: { type: "InstanceReady", status: "False", reason, message },
    wait: { for: "credentials that work", until: now + slow },
    events: [{ type: "Warning", reason, message }],
  };
}

/** What an object that is not being deleted needs next. */
export function planPresent(context: MachineContext, now: number): Outcome {
  const found = findServer(context);
  if (found.kind === "several") {
    const message = `Several servers named ${context.name} have this machine's mark: ${found.ids.join(", ")}. Delete the ones that are not in use`;
    return {
      steps: [],
      finding: { type: "InstanceReady", status: "False", reason: "DuplicateServer", message },
      wait: { for: message, until: now + slow },
    };
  }
  if (found.kind === "one") return planServer(context, found.resource, now);
  const recorded = recordedServerId(context);
  if (recorded !== undefined) {
    const message = `Server ${recorded} is gone, and a machine's server is not replaced; delete the Machine to get a new one`;
    return {
      steps: [],
      finding: { type: "InstanceReady", status: "False", reason: "InstanceDeleted", message },
      status: { instanceState: "DELETED" },
      wait: { for: message, until: now + slow },
      events: [{ type: "Warning", reason: "InstanceDeleted", message }],
    };
  }
  return planBuild(context, now);
}

function planServer(context: MachineContext, server: Server, now: number): Outcome {
  const ports = serverPorts(context, server);
  const before = context.object.status?.resolved;
  const updates = planUpdates(context, server, ports);
  const ids = [...portIds(ports), ...updates.lostIds.map((id) => ({ id }))];
  const status: Partial<OpenStackMachineStatus> = {
    instanceID: server.id,
    instanceState: server.status,
    ...(ids.length > 0 ? { resources: { ports: ids } } : {}),
    ...(before ? { resolved: { ...before, ...updates.resolved } } : resolvedOf(context)),
  };
  const address = planAddress(context, server, ports);
  const claim = planFinalizer(context, server);
  const base = {
    status,
    events: [...ignoredChanges(context, server), ...claim.events, ...duplicates(context, server)],
    steps: [...claim.steps, ...address.steps],
    more: [...(address.more ?? []), ...updates.more],
  };
  const state = stateOf(server, now);
  const events = [...base.events, ...(state.events ?? [])];
  if (server.status !== "ACTIVE") return { ...base, ...state, events };
  const id = providerId(context, server);
  const record: MachineStep[] =
    context.recordsProviderId && context.object.spec.providerID === undefined
      ? [{ type: "record-provider-id", reason: "InstanceNotReady", providerId: id }]
      : [];
  return {
    ...base,
    ...(updates.wait ? { wait: updates.wait } : {}),
    ...state,
    events,
    // Changes of what runs already come last: a refusal of one stops the steps after it.
    steps: [...base.steps, ...record, ...updates.steps],
    status: { ...status, addresses: machineAddresses(server), initialization: { provisioned: true } },
  };
}

/**
 * An object can arrive with its server: restored from a backup, moved or written by a user. The finalizer is added when
 * the server is proven to be this machine's; without proof the object goes without its server.
 */
function planFinalizer(context: MachineContext, server: Server): { steps: MachineStep[]; events: PlannedEvent[] } {
  const { object, finalizer, owner } = context;
  if (object.metadata.finalizers?.includes(finalizer)) return { steps: [], events: [] };
  if (isProven(context, server)) return { steps: [{ type: "add-finalizer", reason: "InstanceNotReady" }], events: [] };
  if (!owner) return { steps: [], events: [] };
  const message = `Server ${server.id} is recorded for this machine, which did not create it: the server remains when the machine is deleted. Set the annotation ${adoptAnnotation} to "true" to have it deleted with the machine`;
  return { steps: [], events: [{ type: "Warning", reason: "ServerNotOwned", message }] };
}

/** The recorded server is the machine's, and both are deleted with it; until then the other one costs money. */
function duplicates(context: MachineContext, server: Server): PlannedEvent[] {
  const others = otherServers(context, server).map(({ id }) => id);
  if (others.length === 0) return [];
  const message = `The machine's server is ${server.id}; ${others.sort().join(", ")} has its name and mark, too. Delete it; it is deleted with the machine`;
  return [{ type: "Warning", reason: "DuplicateServer", message }];
}

/** The server's ports; one that we made for it counts before Nova has written so. */
function serverPorts({ object, name, crn, cloud }: MachineContext, server: Server): Port[] {
  const marks = portMarks(object, { name, crn }, "without subports");
  return cloud.ports.filter((p) => p.device_id === server.id || (p.device_id === "" && marks.includes(markOf(p))));
}

function portIds(ports: readonly Port[]): { id: string }[] {
  return [...ports].sort((a, b) => a.name.localeCompare(b.name)).map((p) => ({ id: p.id }));
}

/** The IDs of names are kept from the build on, so that a renamed image is not seen as a change. */
function resolvedOf(context: MachineContext): { resolved?: ResolvedMachine } {
  const { object, cloud } = context;
  const spec = resolveSpec(context);
  if (spec.ok) return { resolved: spec.resolved };
  const flavor = cloud.flavors.find(
    (f) => f.id === object.spec.flavor.id || f.name === object.spec.flavor.filter?.name,
  );
  const image = cloud.images.find((i) => i.id === object.spec.image.id || i.name === object.spec.image.filter?.name);
  return flavor && image ? { resolved: { flavorID: flavor.id, imageID: image.id } } : {};
}

function stateOf(server: Server, now: number): Pick<Outcome, "finding" | "wait" | "events"> {
  const finding = (status: WantedCondition["status"], reason: string, message?: string): WantedCondition => ({
    type: "InstanceReady",
    status,
    reason,
    ...(message === undefined ? {} : { message }),
  });
  const { id, name, status, fault } = server;
  if (status === "ACTIVE") return { finding: finding("True", "InstanceReady") };
  if (status === "BUILD") {
    const wait = `server ${name} (${id}) to be ACTIVE; it is BUILD`;
    return { finding: finding("False", "InstanceNotReady", `Waiting for ${wait}`), wait: { for: wait } };
  }
  if (status === "ERROR") {
    const why = fault?.message ?? "Nova gives no reason.";
    const message = `Server ${id} is in ERROR: ${why} Delete the Machine to get another one, or repair the server`;
    const events: PlannedEvent[] = [{ type: "Warning", reason: "InstanceStateError", message }];
    return {
      finding: finding("False", "InstanceStateError", message),
      wait: { for: message, until: now + slow },
      events,
    };
  }
  const message = `Server ${id} is ${status}`;
  return { finding: finding("Unknown", "InstanceNotReady", message), wait: { for: message, until: now + slow } };
}

/** A plan from an outcome: Ready summarises InstanceReady; times of transition change only where a condition does. */
export function finish({ object }: Pick<Observed, "object">, outcome: Outcome, now: number): MachinePlan {
  const before = object.status ?? {};
  const { finding, more = [] } = outcome;
  const findings = [finding, ...more, summarise([finding], "Ready")];
  const moment = { generation: object.metadata.generation, now };
  return {
    steps: outcome.steps,
    status: { ...before, ...outcome.status, conditions: setConditions(before.conditions, findings, moment) },
    ...(outcome.wait ? { wait: outcome.wait } : {}),
    events: outcome.events ?? [],
  };
}
