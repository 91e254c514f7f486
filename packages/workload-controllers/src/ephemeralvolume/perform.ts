import { isAlreadyExists, keyOf } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { fieldManager } from "../objects/pipeline.ts";
import { PersistentVolumeClaim } from "../objects/storage.ts";
import type { Step } from "./steps.ts";

/** Creates the claim, or reads the one of its name into the cache, whose owner the next plan checks. */
export async function perform({ informers }: Context, { claim }: Step, signal: AbortSignal): Promise<void> {
  const { client } = informers;
  try {
    await client.create(PersistentVolumeClaim, claim, { fieldManager, signal });
  } catch (error) {
    // The name follows from the pod: an earlier attempt, or a user, made it.
    if (!isAlreadyExists(error)) throw error;
    const found = await client.find(PersistentVolumeClaim, keyOf(claim), { signal });
    if (found) informers.for(PersistentVolumeClaim).observe(found);
  }
}
