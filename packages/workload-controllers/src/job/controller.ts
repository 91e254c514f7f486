import {
  controllerOf,
  runPipeline,
  isNotFound,
  Job,
  keyOf,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type JobStatus,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, indexed } from "../objects/caches.ts";
import { OwnedPods } from "../objects/owned-pods.ts";
import { failureEvents, fieldManager, pipelineOptions } from "../objects/pipeline.ts";
import { selects } from "../objects/selector.ts";
import { byJob, gather, jobIndex, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, sameJobStatus } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Runs the pods of Jobs to completion (k8s.io/kubernetes pkg/controller/job). */
export function jobController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const jobs = indexed(context, informers.for(Job));
  const pods = new OwnedPods(context);
  informers.index(pods.pods, { [byJob]: jobIndex });
  const caches = { context, jobs, pods };
  const pipeline: Pipeline<Observed, Step, JobStatus | undefined> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(caches, observed, step, signal),
    async publish({ job }, status, events, signal) {
      if (!job) return;
      if (status) await write(context, { ...job, status }, job, signal);
      for (const event of events) context.events.event(job, event);
    },
    failed: ({ job }, _plan, step, error) => ({
      // The stored status remains: it must not count what the failed step was to settle.
      status: job?.status,
      events:
        step.type === "create-pods"
          ? failureEvents("FailedCreate", "Error creating", error)
          : step.type === "delete-pods"
            ? failureEvents("FailedDelete", "Error deleting", error)
            : [],
    }),
  };
  return {
    name: "job",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "job")),
    sources: [
      watchInformer(jobs),
      watchOwner(pods.pods, Job.kind),
      watchInformer(pods.pods, ({ type, object }) =>
        type === "deleted" || controllerOf(object)
          ? []
          : jobs
              .byIndex(by.namespace, object.metadata.namespace ?? "")
              .filter(({ spec }) => selects(spec.selector, object.metadata.labels))
              .map(keyOf),
      ),
    ],
    ready: (signal) => Promise.all([jobs.whenSynced(signal), pods.pods.whenSynced(signal)]).then(() => {}),
    clock,
    log,
  };
}

/** Refused if the Job changed since it was read: a count from an old status would count a pod twice. */
async function write({ informers }: Context, wanted: Job, held: Job, signal: AbortSignal): Promise<void> {
  if (sameJobStatus(wanted.status, held.status)) return;
  try {
    await informers.client.update(Job, wanted, { subresource: "status", fieldManager, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
