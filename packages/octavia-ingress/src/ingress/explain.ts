import { Brake, keyOf, type Informers, type ObjectKey } from "@causeway/kubernetes";
import type { Clock } from "@causeway/foundation";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import { explainRounds, type Explanation } from "../balancer/explain-rounds.ts";
import { dryRunBalancer } from "../balancer/dry-run-balancer.ts";
import { balancerMemory } from "../balancer/gather-balancer.ts";
import { isBalancerStep } from "../balancer/perform-balancer.ts";
import { callsOf, type PlannedCall } from "../balancer/step-calls.ts";
import type { IngressConfig } from "../config/config.ts";
import { FINALIZER } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";
import { gather, gatherFrom, planKey, whenRead } from "./gather.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import type { IngressStep, Step } from "./steps.ts";

/** What is read for an explanation. */
export interface ExplainOptions {
  readonly config: IngressConfig;
  /** `run` by the caller. */
  readonly informers: Informers;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly clock: Clock;
}

/**
 * Reads what a reconcile reads, and plans to the end. Undefined: there is no such Ingress, or it is another
 * controller's.
 */
export async function explainIngress(
  options: ExplainOptions,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Explanation | undefined> {
  const { config, informers, cloud, watch, clock } = options;
  // No process before this one has a create under way.
  const memory = { ...balancerMemory(cloud, watch, clock, config), began: 0 };
  const from = gatherFrom({ config, informers, memory }, new Brake({ clock, name: "ingress" }));
  await whenRead(from, signal);
  const at = await planKey(from, key, signal);
  const observed = at && (await gather(from, at, signal));
  const explained = { plan, dryRun, calls, balancerOf: ({ balancer }: Observed) => balancer };
  return observed && explainRounds(explained, observed, clock.now());
}

function calls(step: Step): PlannedCall[] {
  if (isBalancerStep(step)) return callsOf(step);
  const route = step.type === "clear-status" ? "/ingresses/{name}/status" : "/ingresses/{name}";
  return [{ service: "kubernetes", method: "PATCH", route }];
}

function dryRun(observed: Observed, steps: readonly Step[]): Observed {
  const balancer = dryRunBalancer(observed.balancer, steps.filter(isBalancerStep));
  return steps.reduce(after, { ...observed, balancer });
}

function after(observed: Observed, step: Step): Observed {
  if (isBalancerStep(step)) return observed;
  const change = (ingress: Ingress): Ingress =>
    ingress.metadata.name === step.key.name && keyOf(ingress).namespace === step.key.namespace
      ? ingressAfter(ingress, step)
      : ingress;
  const isHeld = ({ metadata }: Ingress): boolean => metadata.finalizers?.includes(FINALIZER) === true;
  return {
    ...observed,
    served: observed.served.map(change),
    released: observed.released.map(change).filter(isHeld),
  };
}

function ingressAfter(ingress: Ingress, step: IngressStep): Ingress {
  const { metadata } = ingress;
  const finalizers = metadata.finalizers ?? [];
  switch (step.type) {
    case "add-finalizer":
      return { ...ingress, metadata: { ...metadata, finalizers: [...finalizers, FINALIZER] } };
    case "remove-finalizer":
      return { ...ingress, metadata: { ...metadata, finalizers: finalizers.filter((name) => name !== FINALIZER) } };
    case "clear-status":
      return { ...ingress, status: {} };
  }
}
