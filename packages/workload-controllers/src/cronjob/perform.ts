import { isAlreadyExists, isControlledBy, Job, keyOf, type CronJob } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { fieldManager } from "../objects/pipeline.ts";
import type { Caches } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Creates or deletes a Job and records the event. A Job of the name that this CronJob controls counts as created. */
export async function perform(
  { context, jobs, deletions }: Caches & { readonly context: Context },
  cronJob: CronJob,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  const event = (reason: string, message: string) => context.events.event(cronJob, { type: "Normal", reason, message });
  if (step.type === "delete-job") {
    await deletions.perform(Job, step.target, signal);
    return event("SuccessfulDelete", `Deleted job ${step.target.name}`);
  }
  const { client } = context.informers;
  try {
    await client.create(Job, step.job, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.get(Job, keyOf(step.job), { signal });
    if (!isControlledBy(found, cronJob)) throw error;
    return jobs.observe(found);
  }
  event("SuccessfulCreate", `Created job ${step.job.metadata.name}`);
}
