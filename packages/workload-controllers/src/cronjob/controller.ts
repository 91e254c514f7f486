import {
  CronJob,
  runPipeline,
  isConflict,
  Job,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type CronJobStatus,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { indexed } from "../objects/caches.ts";
import { Deletions } from "../objects/deletions.ts";
import { failureEvents, isNamespaceTerminating, publish, pipelineOptions } from "../objects/pipeline.ts";
import { gather, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Creates the Jobs of CronJobs at their times and deletes old ones (k8s.io/kubernetes pkg/controller/cronjob). */
export function cronJobController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const cronJobs = informers.for(CronJob);
  const jobs = indexed(context, informers.for(Job));
  const caches: Caches & { context: Context } = {
    context,
    cronJobs,
    jobs,
    deletions: new Deletions(context),
    client: informers.client,
  };
  const pipeline: Pipeline<Observed, Step, CronJobStatus> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, { cronJob }, signal) => perform(caches, cronJob, step, signal),
    publish: ({ cronJob }, status, events, signal) =>
      publish(context, CronJob, { object: cronJob, status, events, signal }),
    failed: (_observed, { status }, step, error) => {
      const isQuiet = step.type !== "create-job" || isConflict(error) || isNamespaceTerminating(error);
      return { status, events: isQuiet ? [] : failureEvents("FailedCreate", "Error creating job", error) };
    },
  };
  return {
    name: "cronjob",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "cronjob")),
    sources: [watchInformer(cronJobs), watchOwner(jobs, CronJob.kind)],
    ready: (signal) => Promise.all([cronJobs.whenSynced(signal), jobs.whenSynced(signal)]).then(() => {}),
    clock,
    log,
  };
}
