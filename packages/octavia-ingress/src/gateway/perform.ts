import {
  addFinalizer,
  publishStatus,
  removeFinalizer,
  type EventRecorder,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { BalancerMemory } from "../balancer/gather-balancer.ts";
import { isBalancerStep, performBalancer } from "../balancer/perform-balancer.ts";
import { FINALIZER } from "../names.ts";
import { Gateway, typeOfRoute } from "../objects/gateway.ts";
import type { Observed, Published } from "./observed.ts";
import type { Step } from "./steps.ts";
import { wantedGateway } from "./wanted.ts";

/** The field manager of the statuses of Gateways and routes. */
export const FIELD_MANAGER = "causeway-octavia-gateway";

/** With what the steps of a Gateway are performed. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly memory: BalancerMemory;
  readonly events: EventRecorder;
}

/** Makes one step true. */
export async function perform(
  { client, memory, events }: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { gateway, balancer } = observed;
  if (isBalancerStep(step)) {
    const certificates = step.type === "store-certificate" ? wantedGateway(observed).balancer.certificates : new Map();
    const emit = (event: Parameters<EventRecorder["event"]>[1]): void => events.event(gateway, event);
    return performBalancer(step, { memory, observed: balancer, certificates, emit, signal });
  }
  if (step.type === "add-finalizer") await addFinalizer(client, Gateway, gateway, { finalizer: FINALIZER, signal });
  else await removeFinalizer(client, Gateway, gateway, { finalizer: FINALIZER, signal });
}

/** Writes the statuses that differ. */
export async function publish(
  client: KubernetesClient,
  { gateway }: Observed,
  { gateway: status, routes }: Published,
  signal: AbortSignal,
): Promise<void> {
  for (const { route, parents } of routes) {
    if (parents.length === 0 && (route.status?.parents ?? []).length === 0) continue;
    await publishStatus(client, typeOfRoute(route), route, {
      status: { parents },
      fieldManager: FIELD_MANAGER,
      signal,
    });
  }
  if (status) await publishStatus(client, Gateway, gateway, { status, fieldManager: FIELD_MANAGER, signal });
}
