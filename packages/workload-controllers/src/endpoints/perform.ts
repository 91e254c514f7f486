import { Endpoints, isAlreadyExists, keyOf } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { fieldManager } from "../objects/pipeline.ts";
import type { Caches } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Writes Endpoints. Where some exist that the cache lacked, it reads them, and the next plan compares. */
export async function perform(
  { context: { informers }, deletions }: Caches & { readonly context: Context },
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const { client } = informers;
  const options = { fieldManager, signal };
  switch (step.type) {
    case "create-endpoints":
      try {
        await client.create(Endpoints, step.endpoints, options);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        informers.for(Endpoints).observe(await client.get(Endpoints, keyOf(step.endpoints), { signal }));
      }
      return;
    case "update-endpoints":
      await client.update(Endpoints, step.endpoints, options);
      return;
    case "delete-endpoints":
      await deletions.perform(Endpoints, step.target, signal);
      return;
  }
}
