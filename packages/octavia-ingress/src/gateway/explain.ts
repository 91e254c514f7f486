import { Brake, type ObjectKey } from "@causeway/kubernetes";
import { silentLog } from "@causeway/foundation";
import { explainRounds, type Explanation } from "../balancer/explain-rounds.ts";
import { dryRunBalancer } from "../balancer/dry-run-balancer.ts";
import { balancerMemory } from "../balancer/gather-balancer.ts";
import { isBalancerStep } from "../balancer/perform-balancer.ts";
import { callsOf, type PlannedCall } from "../balancer/step-calls.ts";
import type { ExplainOptions } from "../ingress/explain.ts";
import { FINALIZER } from "../names.ts";
import { gatherFrom, installedKinds, whenRead } from "./controller.ts";
import { gather } from "./gather.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/**
 * Reads what a reconcile reads, and plans to the end. Undefined: there is no such Gateway, or it is another
 * controller's.
 */
export async function explainGateway(
  options: ExplainOptions,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Explanation | undefined> {
  const { config, informers, cloud, watch, clock } = options;
  const kinds = await installedKinds({ informers, clock, log: silentLog }, signal);
  if (!kinds) return undefined;
  // No process before this one has a create under way.
  const memory = { ...balancerMemory(cloud, watch, clock, config), began: 0 };
  const from = gatherFrom({ config, informers, memory }, kinds, new Brake({ clock, name: "gateway" }));
  await whenRead(from, signal);
  const observed = await gather(from, key, signal);
  const explained = { plan, dryRun, calls, balancerOf: ({ balancer }: Observed) => balancer };
  return observed && explainRounds(explained, observed, clock.now());
}

function calls(step: Step): PlannedCall[] {
  if (isBalancerStep(step)) return callsOf(step);
  return [{ service: "kubernetes", method: "PATCH", route: "/gateways/{name}" }];
}

function dryRun(observed: Observed, steps: readonly Step[]): Observed {
  const { gateway } = observed;
  const balancer = dryRunBalancer(observed.balancer, steps.filter(isBalancerStep));
  const others = (gateway.metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
  const finalizers = steps.reduce<string[] | undefined>(
    (now, { type }) => (type === "add-finalizer" ? [...others, FINALIZER] : type === "remove-finalizer" ? others : now),
    gateway.metadata.finalizers,
  );
  const metadata = { ...gateway.metadata, ...(finalizers === undefined ? {} : { finalizers }) };
  return { ...observed, balancer, gateway: { ...gateway, metadata } };
}
