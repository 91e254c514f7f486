import type { Plan, PlannedEvent, Wait } from "@causeway/kubernetes";
import {
  isOurs,
  reasonFor,
  type ComputeNode,
  type ComputeService,
  type HostedServer,
  type NodeMaintenance,
  type Observed,
} from "./model.ts";
import { controlVerdicts, planControls, type ControlVerdict } from "./plan-control.ts";
import type { MaintenanceStep } from "./steps.ts";

/** The part of a deployment's status that is maintenance's; undefined: no node is in maintenance. */
export interface MaintenanceStatus {
  readonly maintenance?: readonly NodeMaintenance[];
}

const POLL = 10_000;
/** A server that remained where it was is ordered away again after this time, and ever later. */
const RETRY = 60_000;
const LONGEST_RETRY = 30 * 60_000;
const GIVE_NOTICE = 3;

interface NodePlan {
  readonly steps: readonly MaintenanceStep[];
  readonly state?: NodeMaintenance;
  readonly events?: readonly PlannedEvent[];
}

/**
 * A node that is cordoned is given free in order: its compute takes no more servers, its servers move, and only then
 * the pod that a drain waits for may be evicted. A node that is lost is evacuated only when it is fenced. Pure.
 */
export function plan(observed: Observed, now: number): Plan<MaintenanceStep, MaintenanceStatus> {
  const { nodes, nova, controls } = observed;
  const isCompute = ({ name }: ComputeNode): boolean => nodes.some((node) => node.name === name);
  const guarded = [...nodes, ...controls.filter((node) => !isCompute(node))].flatMap((node) =>
    guardSteps(observed, node),
  );
  const admitted = admittedNodes(observed);
  const verdicts = controlVerdicts(observed, (node) => !isCompute(node) || isEmptied(observed, node, admitted));
  const control = planControls(observed, verdicts, isCompute);
  if (!nova) {
    const unread = planUnread(observed, new Set(control.states.map(({ node }) => node)));
    const maintenance = [...unread.states, ...control.states];
    const isUnderWay = maintenance.length > 0 || observed.unread !== undefined;
    return {
      steps: [...guarded, ...control.steps],
      status: maintenance.length > 0 ? { maintenance } : {},
      events: [...unread.events, ...control.events],
      wait: waitUntil(isUnderWay ? now + POLL : nextLoss(observed, now)),
    };
  }
  const plans = nodes.map((node) => {
    const service = serviceOf(observed, node);
    const verdict = verdicts.get(node.name);
    const isAdmitted = admitted.has(node.name);
    return service ? planNode(observed, { node, service, isAdmitted, verdict, now }) : planUnregistered(observed, node);
  });
  const forgotten = observed.orphans.map((name): MaintenanceStep => ({ type: "forget", name }));
  plans.push(...[...observed.removed].toSorted().map((host) => planRemoved(observed, host)));
  plans.push(...observed.strays.map((name) => planStray(observed, name)));
  const maintenance = [...plans.flatMap(({ state }: NodePlan) => state ?? []), ...control.states];
  return {
    steps: [...guarded, ...forgotten, ...control.steps, ...plans.flatMap(({ steps }) => steps)],
    status: maintenance.length > 0 ? { maintenance } : {},
    events: [...control.events, ...plans.flatMap(({ events = [] }: NodePlan) => events)],
    wait: waitUntil(maintenance.length > 0 ? now + POLL : nextLoss(observed, now)),
  };
}

/** What is said of nodes that run servers while Nova cannot be read: they remain as they are. */
function planUnread({ nodes, controls, published, unread }: Observed, said: ReadonlySet<string>) {
  if (unread === undefined) return { states: [], events: [] };
  const message = `Nova cannot be read, the servers are those that were seen last: ${unread}`.slice(0, 512);
  const names = new Set(nodes.map(({ name }) => name));
  const runsServers = ({ node }: NodeMaintenance) => names.has(node) || !controls.some(({ name }) => name === node);
  const known = published.filter((each) => runsServers(each) && !said.has(each.node));
  const isNew = ({ name, cordoned, lostAt }: ComputeNode) =>
    (cordoned || lostAt !== undefined) && !known.some(({ node }) => node === name);
  const states = [
    ...known.map(({ node, servers }) => ({ node, servers })),
    ...nodes.filter(isNew).map(({ name }) => ({ node: name, servers: 0 })),
  ].map((each): NodeMaintenance => ({ node: each.node, phase: "Blocked", servers: each.servers, message }));
  const event = { type: "Warning", reason: "MaintenanceFailed", message: `Nova cannot be read: ${unread}` } as const;
  return { states, events: [{ ...event, message: event.message.slice(0, 1000) }] };
}

/** Undefined: nothing is under way. */
function waitUntil(until: number | undefined): Wait {
  return { for: "a change of a compute node", ...(until === undefined ? {} : { until }) };
}

/** Whether no compute is disabled by us, so that Nova need not be read while all nodes serve. */
export function isClear({ nova, nodes, controls }: Observed, { maintenance = [] }: MaintenanceStatus): boolean {
  const isOthers = ({ node }: NodeMaintenance): boolean =>
    controls.some(({ name }) => name === node) && !nodes.some(({ name }) => name === node);
  return (
    nova !== undefined && maintenance.every(isOthers) && !nova.services.some((each) => isOurs(each) || each.isUnknown)
  );
}

/** A node that serves is held: nothing evicts its guard before its servers have left. */
function guardSteps({ guards, held }: Observed, { name, cordoned, ready }: ComputeNode): MaintenanceStep[] {
  if (cordoned || !ready) return [];
  return [
    ...(held.has(name) ? [] : [{ type: "hold" as const, name }]),
    ...(guards.has(name) ? [] : [{ type: "guard" as const, name }]),
  ];
}

function nextLoss({ nodes, limits }: Observed, now: number): number | undefined {
  const times = nodes.flatMap(({ lostAt }) => (lostAt === undefined ? [] : [lostAt + limits.flap]));
  return times.length > 0 ? Math.max(now + POLL, Math.min(...times)) : undefined;
}

/** Cordoned nodes whose turn it is: those under way first, then by name, and no more of a zone than the limit. */
function admittedNodes({ nodes, nova, limits }: Observed): ReadonlySet<string> {
  const service = new Map(nova?.services.map((each) => [each.host, each]));
  const rank = ({ name }: ComputeNode): number => (isDisabled(service.get(name)) ? 0 : 1);
  const wanted = nodes
    .filter(({ cordoned }) => cordoned)
    .toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  const places = new Map<string, number>();
  const admitted = new Set<string>();
  for (const node of wanted) {
    const zone = service.get(node.name)?.zone ?? "";
    const taken = places.get(zone) ?? 0;
    if (taken >= limits.nodes && !isDisabled(service.get(node.name))) continue;
    places.set(zone, taken + 1);
    admitted.add(node.name);
  }
  return admitted;
}

const serviceOf = ({ nova }: Observed, { name }: ComputeNode): ComputeService | undefined =>
  nova?.services.find(({ host }) => host === name);

/** It is its turn, and neither servers are on it nor come to it. */
const isEmptied = (observed: Observed, node: ComputeNode, admitted: ReadonlySet<string>): boolean =>
  admitted.has(node.name) && isDisabled(serviceOf(observed, node)) && serversOn(observed, node).length === 0;

const isDisabled = (service: ComputeService | undefined): boolean => service?.isEnabled === false;

/** It may have servers all the same: where Nova does not reach a cell, older versions of its API list none of it. */
function planUnregistered({ held }: Observed, { name, cordoned }: ComputeNode): NodePlan {
  if (!cordoned || !held.has(name)) return { steps: [] };
  const message =
    "Nova has no compute of it, and it remains held: see why nova-compute does not register, or remove it from every group with the role Compute";
  return { steps: [], state: { node: name, phase: "Blocked", servers: 0, message } };
}

function planStray({ nova }: Observed, name: string): NodePlan {
  const servers = nova?.servers.filter(({ host }) => host === name).length ?? 0;
  const message =
    "no group has it, and Nova still has its compute: move its servers away and delete its compute service, or uncordon it and give it the labels of its group";
  return { steps: [], state: { node: name, phase: "Blocked", servers, message } };
}

const UNKNOWN_CELL =
  "its cell of Nova cannot be read: it is not known which servers are on it, and it remains as it is";

interface At {
  readonly node: ComputeNode;
  readonly service: ComputeService;
  readonly isAdmitted: boolean;
  /** Of a node that runs services, too. */
  readonly verdict: ControlVerdict | undefined;
  readonly now: number;
}

function planNode(observed: Observed, at: At): NodePlan {
  const { node, now } = at;
  if (at.service.isUnknown)
    return node.cordoned || node.lostAt !== undefined
      ? { steps: [], state: stateOf(at, "Blocked", 0, UNKNOWN_CELL) }
      : { steps: [] };
  const isLost = node.lostAt !== undefined && now - node.lostAt >= observed.limits.flap;
  if (isLost || (node.fenced && !node.ready)) return planLost(observed, at);
  if (at.service.isForcedDown && isOurs(at.service) && node.ready && !node.fenced)
    return { steps: [step("force-up", at)], state: stateOf(at, "Returning", 0, "is back") };
  if (node.cordoned) return planCordoned(observed, at);
  if (!isOurs(at.service) || !node.ready || node.fenced) return { steps: [] };
  // Guards come first: a server that is scheduled at once is held from its first moment.
  return observed.held.has(node.name) && observed.guards.has(node.name)
    ? { steps: [step("enable", at)], state: stateOf(at, "Returning", 0, "takes servers again") }
    : { steps: [], state: stateOf(at, "Returning", 0, "is held again first") };
}

const step = (type: "enable" | "force-down" | "force-up", { node, service }: At): MaintenanceStep => ({
  type,
  name: node.name,
  service: service.id,
});

const stateOf = ({ node }: At, phase: NodeMaintenance["phase"], servers: number, message: string): NodeMaintenance => ({
  node: node.name,
  phase,
  servers,
  message: message.slice(0, 512),
});

function planCordoned(observed: Observed, at: At): NodePlan {
  const { node, service, isAdmitted, verdict } = at;
  const servers = serversOn(observed, node);
  if (!isAdmitted) {
    const message = `${observed.limits.nodes} of the zone ${service.zone} are in maintenance: its turn comes after them`;
    return { steps: [], state: stateOf(at, "Waiting", servers.length, message) };
  }
  if (service.isEnabled)
    return {
      steps: [disable(at, "is cordoned")],
      state: stateOf(at, "Moving", servers.length, "takes no more servers"),
    };
  if (servers.length === 0) {
    if (verdict && !verdict.may) return { steps: [], state: stateOf(at, verdict.phase, 0, verdict.message) };
    const steps: MaintenanceStep[] = observed.held.has(node.name) ? [{ type: "release", name: node.name }] : [];
    return { steps, state: stateOf(at, "Empty", 0, "no server is on it: it may be drained") };
  }
  return moveAway(observed, { ...at, servers, order: orderAway, phase: "Moving" });
}

/**
 * A host that is no node any more leaves the cloud once it is off and no server is on it. Its compute is disabled by us
 * first: from then on it is known as one of ours, whichever process continues.
 */
function planRemoved({ nova }: Observed, host: string): NodePlan {
  const service = nova?.services.find((each) => each.host === host);
  if (!nova || !service) return { steps: [] };
  const servers = nova.servers.filter((server) => server.host === host);
  const agents = nova.agents.filter((agent) => agent.host === host);
  const at = (phase: "Removing" | "Blocked", message: string): NodeMaintenance => ({
    node: host,
    phase,
    servers: servers.length,
    message: message.slice(0, 512),
  });
  if (service.isUnknown) return { steps: [], state: at("Blocked", UNKNOWN_CELL) };
  if (!isOurs(service) && service.isEnabled) {
    const reason = reasonFor(host, "was removed");
    const step: MaintenanceStep = { type: "disable", name: host, service: service.id, reason };
    return { steps: [step], state: at("Removing", "takes no more servers") };
  }
  if (servers.length > 0) {
    const message = `the node was removed, and ${servers.length} servers are still on it: delete or evacuate them`;
    const event = { type: "Warning", reason: "RemovedWithServers", message: `node ${host}: ${message}` } as const;
    return { steps: [], state: at("Blocked", message), events: [event] };
  }
  if (service.isUp || agents.some(({ isAlive }) => isAlive))
    return { steps: [], state: at("Removing", "its processes still run: nothing is deleted before they are gone") };
  const step: MaintenanceStep = { type: "remove", name: host, service: service.id, agents: agents.map(({ id }) => id) };
  return { steps: [step], state: at("Removing", "its service, provider and agents are deleted") };
}

const disable = ({ node, service }: At, why: "is cordoned" | "is fenced"): MaintenanceStep => ({
  type: "disable",
  name: node.name,
  service: service.id,
  reason: reasonFor(node.name, why),
});

const serversOn = ({ nova }: Observed, { name }: ComputeNode): HostedServer[] =>
  (nova?.servers ?? []).filter(({ host }) => host === name).toSorted((a, b) => (a.id < b.id ? -1 : 1));

type Order = "live-migrate" | "migrate" | "evacuate";

/** How a server leaves a node that works; undefined: not by an order of ours. */
const orderAway = ({ status }: HostedServer): Order | undefined =>
  status === "ACTIVE" || status === "PAUSED" ? "live-migrate" : status === "SHUTOFF" ? "migrate" : undefined;
/** How it leaves one that is off. Nova rebuilds it elsewhere with its disks. */
const orderOut = ({ status }: HostedServer): Order | undefined =>
  ["ACTIVE", "SHUTOFF", "ERROR", "PAUSED"].includes(status) ? "evacuate" : undefined;

interface MoveContext extends At {
  readonly servers: readonly HostedServer[];
  readonly order: (server: HostedServer) => Order | undefined;
  readonly phase: "Moving" | "Evacuating";
}

function moveAway({ limits, attempts }: Observed, moving: MoveContext): NodePlan {
  const { node, servers, order, phase, now } = moving;
  const isDue = ({ id }: HostedServer): boolean => {
    const tried = attempts.get(id);
    return !tried || now - tried.at >= Math.min(LONGEST_RETRY, RETRY * 2 ** (tried.count - 1));
  };
  const idle = servers.filter(({ task }) => task === "");
  const busy = servers.length - idle.length;
  const movable = idle.flatMap((server) => {
    const type = order(server);
    return type ? [{ ...server, type }] : [];
  });
  const stuck = idle.filter((server) => order(server) === undefined);
  const steps = movable
    .filter(isDue)
    .slice(0, Math.max(0, limits.moves - busy))
    .map(({ id, type }): MaintenanceStep => ({ type, name: id, node: node.name }));
  const failed = movable.filter(({ id }) => (attempts.get(id)?.count ?? 0) >= GIVE_NOTICE);
  const problems = [
    ...stuck.map(({ name, id, status }) => `server ${name} (${id}) is ${status}: start, stop or delete it`),
    ...failed.map(
      ({ name, id }) => `server ${name} (${id}) was ordered away ${attempts.get(id)?.count} times and is still here`,
    ),
  ];
  const isBlocked = problems.length > 0 && problems.length === servers.length;
  const message =
    problems.length > 0 ? problems.join("; ") : `${servers.length} servers are left, ${busy + steps.length} move`;
  const events = problems.map((problem) => ({
    type: "Warning" as const,
    reason: "ServerStays",
    message: `node ${node.name}: ${problem}`.slice(0, 1000),
  }));
  return { steps, state: stateOf(moving, isBlocked ? "Blocked" : phase, servers.length, message), events };
}

function planLost(observed: Observed, at: At): NodePlan {
  const { node, service } = at;
  const servers = serversOn(observed, node);
  if (!node.fenced) {
    const message = `not ready, with ${servers.length} servers: nothing is evacuated before the node is off; then taint it node.kubernetes.io/out-of-service`;
    return {
      steps: [],
      state: stateOf(at, "Unreachable", servers.length, message),
      events: [{ type: "Warning", reason: "ComputeUnreachable", message: `node ${node.name} is ${message}` }],
    };
  }
  if (service.isEnabled)
    return { steps: [disable(at, "is fenced")], state: stateOf(at, "Evacuating", servers.length, "is fenced") };
  if (!service.isForcedDown)
    return { steps: [step("force-down", at)], state: stateOf(at, "Evacuating", servers.length, "is fenced") };
  if (servers.length === 0) return { steps: [], state: stateOf(at, "Evacuated", 0, "no server is on it") };
  return moveAway(observed, { ...at, servers, order: orderOut, phase: "Evacuating" });
}
