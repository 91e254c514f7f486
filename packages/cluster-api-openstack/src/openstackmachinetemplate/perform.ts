import { OpenStackMachine } from "@causeway/api";
import { keyOf, type EventRecorder, type KubernetesClient } from "@causeway/kubernetes";
import type { TemplateStep } from "./steps.ts";

/** The field manager of a template's status, and of spec.ports of machines that follow their template. */
export const fieldManager = "causeway-openstackmachinetemplate";

/** With what steps are performed. */
export interface TemplatePerformContext {
  readonly client: KubernetesClient;
  readonly events: EventRecorder;
}

/** Makes a step true; a machine that has changed meanwhile is reconciled again. */
export async function perform(
  { machine, ports }: TemplateStep,
  { client, events }: TemplatePerformContext,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion } = machine.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { ports } };
  await client.patch(OpenStackMachine, keyOf(machine), { type: "merge", body }, { signal, fieldManager });
  const message = "Took the allowed address pairs of its ports from the template";
  events.event(machine, { type: "Normal", reason: "AddressPairsChanged", message });
}
