import { EndpointSlice, isAlreadyExists, keyOf } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { fieldManager } from "../objects/road.ts";
import type { Caches } from "./gather.ts";
import type { Step } from "./steps.ts";

export async function perform(
  { context: { informers }, deletions }: Caches & { readonly context: Context },
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { client } = informers;
  const options = { fieldManager, signal };
  switch (step.type) {
    case "create-slice":
      try {
        await client.create(EndpointSlice, step.slice, options);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        informers.for(EndpointSlice).observe(await client.get(EndpointSlice, keyOf(step.slice), { signal }));
      }
      return;
    case "update-slice":
      await client.update(EndpointSlice, step.slice, options);
      return;
    case "delete-slice":
      await deletions.perform(EndpointSlice, step.target, signal);
      return;
  }
}
