import { shortList } from "@causeway/foundation";
import type { HostedControlPlane } from "@causeway/api";
import { getCondition, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import type { ControlPlaneState } from "../runtime.ts";

const TYPE = "NodeClocksAgree";
/** Nodes that are named. */
const NAMED = 5;

type Clocks = ControlPlaneState["clocks"];

/** Are clocks of nodes wrong that run its pods? Only once one was. */
export function clockConditions({ status }: HostedControlPlane, clocks: Clocks): WantedCondition[] {
  const known = getCondition(status?.conditions ?? [], TYPE);
  // Nothing is known yet, such as after a start: what was found remains.
  if (clocks === undefined) return known === undefined ? [] : [wantedOf(known)];
  if (clocks.length > 0) return [{ type: TYPE, status: "False", reason: "NodeClockOff", message: messageOf(clocks) }];
  return known === undefined ? [] : [{ type: TYPE, status: "True", reason: "ClocksAgree" }];
}

function wantedOf({ status, reason, message = "" }: NonNullable<ReturnType<typeof getCondition>>): WantedCondition {
  return { type: TYPE, status, reason, message };
}

function messageOf(clocks: NonNullable<Clocks>): string {
  const named = clocks.map(({ node, minutes }) => {
    const direction = minutes < 0 ? "behind" : "ahead";
    return `the clock of node ${node} of the service cluster is ${Math.abs(minutes)} min ${direction}`;
  });
  return `${shortList(named, NAMED, { separator: "; " })}: certificates and tokens can be refused there; the operator must correct it (NODE_CLOCK_OFF)`;
}

/** One event when it is found. */
export function clockEvents({ status }: HostedControlPlane, clocks: Clocks): PlannedEvent[] {
  if (clocks === undefined || clocks.length === 0) return [];
  if (getCondition(status?.conditions ?? [], TYPE)?.status === "False") return [];
  return [{ type: "Warning", reason: "NodeClockOff", message: messageOf(clocks) }];
}
