import type { ServiceStatus } from "@causeway/kubernetes";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import type { OnePlan, ServiceEvent, ServicePlan } from "./plan-events.ts";
import type { KubernetesStep, OneStep, Step } from "./steps.ts";

/**
 * The plan of a Service with all its load balancers. The second one (of the other address family) follows the rules of
 * the first, so that it waits for the Service's finalizer, too; the Service itself is written by the first alone, which
 * holds on to that finalizer until the second is gone.
 */
export function planBoth(observed: Observed, now: number): ServicePlan {
  const first = plan(observed, now);
  const { second } = observed;
  if (!second) return first;
  // By the first one's former name the second is found: nothing is created before that is known.
  if (observed.adoption || observed.unproved !== undefined) return first;
  const other = plan(second, now);
  const steps = other.steps.filter(isOfCloud);
  const last = steps.length > 0 || other.wait !== undefined;
  const own = first.steps.filter(
    ({ type }) => !(last && type === "remove-finalizer") && !(isSought(observed) && type === "update-load-balancer"),
  );
  const wait = earlier(first, other);
  return {
    steps: [...own, ...steps.map((step): Step => ({ type: "of-second", step }))],
    status: merged(first.status, other.status),
    events: [...(first.events ?? []), ...(other.events ?? []).filter(isNews)],
    ...(wait ? { wait } : {}),
  };
}

/** By the first one's former name the second is found, which must have its new name before that one is given up. */
function isSought({ formerName, second }: Observed): boolean {
  return formerName !== undefined && second?.formerName !== undefined;
}

function isOfCloud(step: OneStep): step is Exclude<OneStep, KubernetesStep> {
  return !["add-finalizer", "annotate", "clear-status", "remove-finalizer"].includes(step.type);
}

/** Whether an event of the second load balancer is not already reported by the first. */
function isNews({ type, ofService }: ServiceEvent): boolean {
  return type === "Warning" && ofService === undefined;
}

/** The wait that ends first. Only where both are for steps that are held back has every other step settled. */
function earlier(first: OnePlan, other: OnePlan): OnePlan["wait"] {
  if (!first.wait || !other.wait) return first.wait ?? other.wait;
  const one = (other.wait.until ?? Infinity) < (first.wait.until ?? Infinity) ? other.wait : first.wait;
  const { onlyHeld: _, ...wait } = one;
  return first.wait.onlyHeld && other.wait.onlyHeld ? one : wait;
}

/** A hostname represents both. */
function merged(first: ServiceStatus, other: ServiceStatus): ServiceStatus {
  const own = first.loadBalancer?.ingress ?? [];
  const more = (other.loadBalancer?.ingress ?? []).filter(
    (i) => !own.some((o) => o.ip === i.ip && o.hostname === i.hostname),
  );
  const ingress = [...own, ...more];
  return ingress.length === 0 ? first : { ...first, loadBalancer: { ingress } };
}
