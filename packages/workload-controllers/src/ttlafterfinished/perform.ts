import { isNotFound, Job } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import type { Caches } from "./gather.ts";
import { expiryOf } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Reads the Job first: its TTL may have been changed since the cache saw it. */
export async function perform(
  { context, jobs, deletions }: Caches & { readonly context: Context },
  { target }: Step,
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  const fresh = await client.find(Job, target, { signal });
  if (fresh?.metadata.uid === target.uid) {
    jobs.observe(fresh);
    if ((expiryOf(fresh) ?? Number.POSITIVE_INFINITY) > context.clock.now()) return;
    const { resourceVersion } = fresh.metadata;
    const preconditions = { uid: target.uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      await client.delete(Job, target, { propagationPolicy: "Foreground", preconditions, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  deletions.note(target.uid);
}
