import { addFinalizer, removeFinalizer, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { identityFinalizer, type Observed } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Does one step; what is so already is success. */
export async function perform(
  client: KubernetesClient,
  step: Step,
  { secret }: Observed,
  signal: AbortSignal,
): Promise<void> {
  const change = { finalizer: identityFinalizer, signal };
  if (step.type === "hold") await addFinalizer(client, Secret, secret, change);
  else await removeFinalizer(client, Secret, secret, change);
}
