import { runPipeline, Job, watchInformer, type ControllerOptions, type Pipeline } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import { Deletions } from "../objects/deletions.ts";
import { gather, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Deletes finished Jobs after their TTL (k8s.io/kubernetes pkg/controller/ttlafterfinished). */
export function ttlAfterFinishedController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const jobs = informers.for(Job);
  const caches: Caches & { context: Context } = { context, jobs, deletions: new Deletions(context) };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather(caches, key)),
    plan,
    perform: (step, _observed, signal) => perform(caches, step, signal),
    publish: () => Promise.resolve(),
    failed: () => ({ status: undefined, events: [] }),
  };
  return {
    name: "ttl-after-finished",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "ttl-after-finished")),
    sources: [
      watchInformer(jobs, ({ type, object: { metadata, spec } }) => {
        if (type === "deleted" || spec.ttlSecondsAfterFinished === undefined) return [];
        return [{ namespace: metadata.namespace ?? "", name: metadata.name }];
      }),
    ],
    ready: (signal) => jobs.whenSynced(signal),
    clock,
    log,
  };
}
