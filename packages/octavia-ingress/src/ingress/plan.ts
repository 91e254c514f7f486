import { keyOf, type Plan, type PlannedEvent } from "@causeway/kubernetes";
import { planBalancer, planRelease, type BalancerPlan } from "../balancer/plan-balancer.ts";
import { FINALIZER } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";
import type { Observed, Published } from "./observed.ts";
import type { IngressStep, Step } from "./steps.ts";
import { wantedOf } from "./wanted.ts";

/** What keeps an Ingress from being served is checked again after this long (ms) even if no change was seen. */
const RESYNC = 60_000;

/** The rules of the Ingresses of one load balancer: served, or released. */
export function plan(observed: Observed, now: number): Plan<Step, Published> {
  const planned = planIngresses(observed, now);
  if (observed.blocked === undefined || planned.wait) return planned;
  const wait = { for: "load balancers of released Ingresses to be deleted", until: observed.blocked };
  return { ...planned, wait };
}

function planIngresses(observed: Observed, now: number): Plan<Step, Published> {
  const { served, released, balancer, keepFloatingIp } = observed;
  const unheld = served.filter(({ metadata }) => metadata.finalizers?.includes(FINALIZER) !== true);
  if (unheld.length > 0)
    return { steps: unheld.map((i) => ({ type: "add-finalizer", key: keyOf(i) })), status: { address: undefined } };
  if (observed.class.problem !== undefined && served.length === 0 && released.length === 0) {
    // Whether its Ingresses share a load balancer is not known: what exists is neither changed nor released.
    const problem = `the parameters of the class: ${observed.class.problem}`;
    const wait = { for: "parameters of the class that can be read", until: now + RESYNC };
    return { steps: [], status: { address: undefined }, events: [failure(problem)], wait };
  }
  if (observed.kept) return { steps: released.flatMap(lettingGo), status: { address: undefined } };
  if (served.length === 0) {
    const release = planRelease(balancer, { keepFloatingIp, now });
    return finish(release, release.settled ? released.flatMap(lettingGo) : [], []);
  }
  const wanted = wantedOf(observed);
  const about = new Map([...wanted.warnings].map(([message, ingress]) => [failure(message), ingress]));
  const warnings = [...wanted.failures.map(failure), ...about.keys()];
  if (wanted.failures.length > 0) {
    const wait = { for: "the blocking condition to clear", until: now + RESYNC };
    return { steps: [], status: { address: undefined, about }, events: warnings, wait };
  }
  const isServed = served.some(({ status }) => (status?.loadBalancer?.ingress ?? []).length > 0);
  const planned = planBalancer(wanted.balancer, balancer, { now, served: isServed });
  const finished = finish(planned, planned.settled ? released.flatMap(lettingGo) : [], warnings);
  return { ...finished, status: { ...finished.status, about } };
}

function failure(message: string): PlannedEvent {
  return { type: "Warning", reason: "Failed", message };
}

function finish(
  planned: BalancerPlan,
  after: readonly IngressStep[],
  warnings: readonly PlannedEvent[],
): Plan<Step, Published> {
  const failures = planned.failure === undefined ? [] : [failure(planned.failure)];
  return {
    steps: [...planned.steps, ...after],
    status: { address: planned.address },
    events: [...planned.events, ...warnings, ...failures],
    ...(planned.wait ? { wait: planned.wait } : {}),
  };
}

/** One that remains, as another controller's, loses our address first. */
function lettingGo(ingress: Ingress): IngressStep[] {
  const key = keyOf(ingress);
  const stays = ingress.metadata.deletionTimestamp === undefined;
  return [...(stays ? [{ type: "clear-status", key } as const] : []), { type: "remove-finalizer", key }];
}
