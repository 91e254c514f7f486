import type { Context } from "../context.ts";
import type { Observed } from "./observed.ts";
import type { Step } from "./steps.ts";

/** Gives the target its size, if it did not change since its scale was read. */
export async function perform(
  { informers }: Context,
  { autoscaler }: Observed,
  { target, to }: Step,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion, path } = target;
  const body = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: {
      name: autoscaler.spec.scaleTargetRef.name,
      namespace: autoscaler.metadata.namespace,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: { replicas: to },
  };
  await informers.client.request("PUT", path, { body, signal });
}
