import { getCondition, setConditions, type Condition, type Plan, type WantedCondition } from "@causeway/kubernetes";
import { planBalancer, planRelease, type BalancerPlan } from "../balancer/plan-balancer.ts";
import { FINALIZER, GATEWAY_CONTROLLER } from "../names.ts";
import { GATEWAY_GROUP, type GatewayStatus, type Route, type RouteParentStatus } from "../objects/gateway.ts";
import { parametersOf } from "../ingress/parameters.ts";
import { isServing } from "./listeners.ts";
import type { Observed, Published } from "./observed.ts";
import { isParent } from "./references.ts";
import type { Step } from "./steps.ts";
import { wantedGateway, type JudgedRoute, type WantedGateway } from "./wanted.ts";

/** What keeps a Gateway from being served is checked again after this long (ms) even if no change was seen. */
const RESYNC = 60_000;

/** The rules of a Gateway: served, or released. */
export function plan(observed: Observed, now: number): Plan<Step, Published> {
  const { gateway, balancer } = observed;
  const isHeld = gateway.metadata.finalizers?.includes(FINALIZER) === true;
  const isGoing = gateway.metadata.deletionTimestamp !== undefined;
  if (isGoing || !observed.class) return isHeld ? release(observed, now) : { steps: [], status: none };
  if (!isHeld) return { steps: [{ type: "add-finalizer" }], status: none };
  const wanted = wantedGateway(observed);
  if (wanted.failure) {
    const { message } = wanted.failure;
    const status = statusOf(observed, wanted, undefined, now);
    const events = [{ type: "Warning", reason: "Failed", message } as const];
    return { steps: [], status, events, wait: { for: "the blocking condition to clear", until: now + RESYNC } };
  }
  // Nothing is created for a Gateway none of whose listeners can be served.
  if (!wanted.listeners.some(isServing) && balancer.found.length === 0)
    return { steps: [], status: statusOf(observed, wanted, undefined, now) };
  const served = (gateway.status?.addresses ?? []).length > 0;
  const planned = planBalancer(wanted.balancer, balancer, { now, served });
  const failures = [...wanted.warnings, ...(planned.failure === undefined ? [] : [planned.failure])];
  return {
    steps: planned.steps,
    status: statusOf(observed, wanted, planned, now),
    events: [
      ...planned.events,
      ...failures.map((message) => ({ type: "Warning", reason: "Failed", message }) as const),
    ],
    ...(planned.wait ? { wait: planned.wait } : {}),
  };
}

const none: Published = { gateway: undefined, routes: [] };

function release(observed: Observed, now: number): Plan<Step, Published> {
  const { gateway, balancer } = observed;
  const { keepFloatingIp } = parametersOf(gateway);
  const planned = planRelease(balancer, { keepFloatingIp, now });
  return {
    steps: [...planned.steps, ...(planned.settled ? [{ type: "remove-finalizer" } as const] : [])],
    status: { gateway: undefined, routes: observed.routes.map((route) => entries(observed, route, [], now)) },
    events: planned.events,
    ...(planned.wait ? { wait: planned.wait } : {}),
  };
}

function statusOf(
  observed: Observed,
  wanted: WantedGateway,
  planned: BalancerPlan | undefined,
  now: number,
): Published {
  const { gateway, routes } = observed;
  const { generation } = gateway.metadata;
  const before = gateway.status?.conditions;
  const programmed = programmedOf(observed, wanted, planned);
  const wantedConditions = [acceptedOf(wanted), ...(programmed ? [programmed] : [])];
  const conditions = setConditions(ours(before), wantedConditions, { generation, now });
  const isProgrammed = getCondition(conditions, "Programmed")?.status === "True";
  const status: GatewayStatus = {
    conditions,
    ...addressesOf(observed, planned),
    listeners: wanted.listeners.map((each) => {
      const { listener, kinds, attached, accepted, conflicted, resolved } = each;
      const old = gateway.status?.listeners?.find(({ name }) => name === listener.name)?.conditions;
      const own = listenerProgrammed(isServing(each), isProgrammed);
      return {
        name: listener.name,
        supportedKinds: kinds.map((kind) => ({ group: GATEWAY_GROUP, kind })),
        attachedRoutes: attached,
        conditions: setConditions(old, [accepted, own, resolved, conflicted], { generation, now }),
      };
    }),
  };
  return { gateway: status, routes: routes.map((route) => entries(observed, route, wanted.routes, now)) };
}

/**
 * Where clients reach it. While it cannot be as it is wanted, a load balancer may still serve as it is: its address
 * remains, since DNS follows it, and since one that has served is never deleted to be created again.
 */
function addressesOf(
  { gateway, balancer }: Observed,
  planned: BalancerPlan | undefined,
): Pick<GatewayStatus, "addresses"> {
  if (planned?.address !== undefined) return { addresses: [{ type: "IPAddress", value: planned.address }] };
  const before = gateway.status?.addresses;
  const isFailed = planned === undefined || planned.failure !== undefined;
  return before && isFailed && balancer.found.length > 0 ? { addresses: before } : {};
}

/** Those that this controller writes. */
function ours(conditions: readonly Condition[] | undefined): Condition[] {
  return (conditions ?? []).filter(({ type }) => type === "Accepted" || type === "Programmed");
}

function acceptedOf({ failure, listeners }: WantedGateway): WantedCondition {
  if (failure) return { type: "Accepted", status: "False", ...failure };
  const bad = listeners.filter((each) => !isServing(each)).map(({ listener }) => listener.name);
  if (bad.length === 0) return { type: "Accepted", status: "True", reason: "Accepted" };
  const status = bad.length === listeners.length ? "False" : "True";
  return {
    type: "Accepted",
    status,
    reason: "ListenersNotValid",
    message: `listeners ${bad.join(", ")} are not served`,
  };
}

/** Undefined: what was published remains, while a change of a Gateway that serves is under way. */
function programmedOf(
  { gateway }: Observed,
  { failure, listeners }: WantedGateway,
  planned: BalancerPlan | undefined,
): WantedCondition | undefined {
  const refused = (reason: string, message: string): WantedCondition => ({
    type: "Programmed",
    status: "False",
    reason,
    message,
  });
  if (failure) return refused("Invalid", failure.message);
  if (!planned || !listeners.some(isServing)) return refused("Invalid", "no listener can be served");
  if (planned.failure !== undefined) return refused("Pending", planned.failure);
  if (planned.settled && planned.address !== undefined)
    return { type: "Programmed", status: "True", reason: "Programmed" };
  const before = getCondition(gateway.status?.conditions, "Programmed")?.status;
  if (before === "True" && planned.address !== undefined) return undefined;
  return planned.settled
    ? refused("AddressNotAssigned", "the load balancer has no address for clients yet")
    : refused("Pending", planned.wait?.for ?? "the load balancer is being changed");
}

function listenerProgrammed(serving: boolean, programmed: boolean): WantedCondition {
  if (!serving) return { type: "Programmed", status: "False", reason: "Invalid" };
  return programmed
    ? { type: "Programmed", status: "True", reason: "Programmed" }
    : { type: "Programmed", status: "False", reason: "Pending" };
}

/** All entries of a route's status: those for this Gateway are rewritten, the others remain. */
function entries(
  { gateway }: Observed,
  route: Route,
  judged: readonly JudgedRoute[],
  now: number,
): Published["routes"][number] {
  const { name, namespace = "" } = gateway.metadata;
  const own = route.metadata.namespace ?? "";
  const before = route.status?.parents ?? [];
  const isMine = ({ controllerName, parentRef }: RouteParentStatus): boolean =>
    controllerName === GATEWAY_CONTROLLER && isParent(parentRef, own, { name, namespace });
  const { generation } = route.metadata;
  const mine = judged
    .filter((each) => each.route === route)
    .map(({ parentRef, accepted, resolved }) => {
      const old = before.find(
        (entry) => isMine(entry) && JSON.stringify(key(entry.parentRef)) === JSON.stringify(key(parentRef)),
      );
      const conditions = setConditions(old?.conditions, [accepted, resolved], { generation, now });
      return { parentRef, controllerName: GATEWAY_CONTROLLER, conditions };
    });
  return { route, parents: [...before.filter((entry) => !isMine(entry)), ...mine] };
}

function key({ namespace, name, sectionName, port }: RouteParentStatus["parentRef"]): unknown {
  return [namespace, name, sectionName, port];
}
