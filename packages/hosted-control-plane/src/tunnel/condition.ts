import type { HostedControlPlane } from "@causeway/api";
import { getCondition, timestamp, type Condition, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import type { TunnelFacts } from "./facts.ts";

const TYPE = "TunnelConnected";
/** Milliseconds that an agent or the server has to be away before the condition says so: an agent may restart. */
const GRACE = 60_000;
/** Milliseconds between two changes of the condition: an agent that comes and goes changes it once a minute at most. */
const HOLD = 60_000;

const REASONS = {
  connected: "AgentConnected",
  lost: "NoAgent",
  never: "WaitingForAgent",
  unknown: "ServerUnreachable",
  neverUnknown: "WaitingForServer",
};

/** What becomes of the condition. */
export interface TunnelPlan {
  /** The conditions that the object has, without one of a tunnel that is not used any more. */
  readonly before: Condition[] | undefined;
  readonly conditions: readonly WantedCondition[];
  readonly events: readonly PlannedEvent[];
  /** When the condition changes if nothing else does (ms since epoch). */
  readonly until?: number;
}

/**
 * The condition for an agent of the tunnel: without one, the control plane reaches no node. It changes after GRACE, and
 * not again for HOLD; what it says of an absence is what was said at first, so that the status does not change with it.
 */
export function planTunnel({ status }: HostedControlPlane, facts: TunnelFacts | undefined, now: number): TunnelPlan {
  const before = status?.conditions as Condition[] | undefined;
  const nothing: TunnelPlan = { before, conditions: [], events: [] };
  if (facts === undefined) return nothing;
  if (facts.type === "none") return { ...nothing, before: before?.filter(({ type }) => type !== TYPE) };
  const known = getCondition(before, TYPE);
  // The controller that set the condition had reached the server; without one, API servers may reach what it does not.
  if (facts.type === "unreachable" && !facts.reached && known === undefined) return nothing;
  const wanted = wantedFor(facts, known);
  if (known?.status === wanted.status && (wanted.status === "True" || known.reason === wanted.reason)) return nothing;
  const until = Math.max(reportedFrom(facts), heldUntil(known));
  if (now < until) return { ...nothing, until };
  return { before, conditions: [wanted], events: eventsOf(wanted, known) };
}

function reportedFrom(facts: Exclude<TunnelFacts, { type: "none" }>): number {
  if (facts.type === "connected") return 0;
  return Math.max(facts.seenSince, facts.type === "absent" ? facts.since : 0) + GRACE;
}

function heldUntil(known: Condition | undefined): number {
  return known === undefined ? 0 : Date.parse(known.lastTransitionTime ?? "") + HOLD || 0;
}

function wantedFor(facts: Exclude<TunnelFacts, { type: "none" }>, known: Condition | undefined): WantedCondition {
  const type = TYPE;
  if (facts.type === "connected") return { type, status: "True", reason: REASONS.connected };
  const isNew = !facts.hadAgents && hadNone(known);
  if (facts.type === "unreachable") {
    const since = timestamp(facts.seenSince);
    const message = `the tunnel server has not responded to this controller since ${since} (${facts.code}); if it does not respond to API servers either, ${LOST}; the operator of the tunnel server must act (TUNNEL_SERVER_UNREACHABLE)`;
    return { type, status: "Unknown", reason: isNew ? REASONS.neverUnknown : REASONS.unknown, message };
  }
  if (isNew) {
    const message = `no agent of the tunnel has connected yet: ${LOST}; nothing is to be done before the cluster has workers`;
    return { type, status: "False", reason: REASONS.never, message };
  }
  const message = `no agent of the tunnel is connected since ${timestamp(facts.since)}: ${LOST}; the cluster's owner must let an agent run on a worker that reaches the tunnel server, and the operator must act if other clusters have no agents either (TUNNEL_NO_AGENT)`;
  return { type, status: "False", reason: REASONS.lost, message };
}

const LOST = "logs, exec, port-forward, webhooks and aggregated APIs in the cluster do not work";

/** Was there no agent before, by what the object says? Its reasons remember that. */
function hadNone(known: Condition | undefined): boolean {
  return known === undefined || known.reason === REASONS.never || known.reason === REASONS.neverUnknown;
}

/** An event for what a person has to do, and one when it is over. */
function eventsOf({ status, reason, message = "" }: WantedCondition, known: Condition | undefined): PlannedEvent[] {
  if (status === "True") {
    const isOver = known !== undefined && known.reason !== REASONS.never;
    return isOver
      ? [{ type: "Normal", reason: "TunnelConnected", message: "an agent of the tunnel is connected" }]
      : [];
  }
  if (reason === REASONS.never) return [];
  return [{ type: "Warning", reason: status === "False" ? "TunnelAgentMissing" : "TunnelServerUnreachable", message }];
}
