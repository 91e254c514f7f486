import {
  addFinalizer,
  publishStatus,
  removeFinalizer,
  type EventRecorder,
  type Informer,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { BalancerMemory } from "../balancer/gather-balancer.ts";
import { isBalancerStep, performBalancer } from "../balancer/perform-balancer.ts";
import type { Bundle } from "../certificates/pkcs12.ts";
import { FINALIZER } from "../names.ts";
import { Ingress } from "../objects/ingress.ts";
import type { Observed } from "./observed.ts";
import type { IngressStep, Step } from "./steps.ts";
import { wantedOf } from "./wanted.ts";

/** The field manager of the statuses of Ingresses. */
export const FIELD_MANAGER = "causeway-octavia-ingress";

/** With what the steps of an Ingress are performed. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly ingresses: Informer<Ingress>;
  readonly memory: BalancerMemory;
  readonly events: EventRecorder;
}

/** Makes one step true. */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  if (!isBalancerStep(step)) return performIngress(using, step, signal);
  const { memory, events } = using;
  const none: ReadonlyMap<string, Bundle> = new Map();
  const certificates = step.type === "store-certificate" ? wantedOf(observed).balancer.certificates : none;
  const emit = (event: Parameters<EventRecorder["event"]>[1]): void => events.event(observed.subject, event);
  return performBalancer(step, { memory, observed: observed.balancer, certificates, emit, signal });
}

async function performIngress(
  { client, ingresses, events }: PerformContext,
  step: IngressStep,
  signal: AbortSignal,
): Promise<void> {
  const ingress = ingresses.get(step.key);
  if (!ingress) return;
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(client, Ingress, ingress, { finalizer: FINALIZER, signal });
      return;
    case "clear-status": {
      const status = { loadBalancer: {} };
      await publishStatus(client, Ingress, ingress, { status, fieldManager: FIELD_MANAGER, signal });
      return;
    }
    case "remove-finalizer": {
      const { namespace, name } = step.key;
      events.event(ingress, { type: "Normal", reason: "Deleted", message: `Ingress ${namespace}/${name}` });
      await removeFinalizer(client, Ingress, ingress, { finalizer: FINALIZER, signal });
    }
  }
}
