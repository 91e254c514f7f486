import {
  runPipeline,
  keyOf,
  PersistentVolumeClaim,
  VolumeAttributesClass,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import { volumesOf } from "../objects/storage.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Protection of VolumeAttributesClasses. */
export function attributesClassController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const classes = informers.for(VolumeAttributesClass);
  const claims = informers.for(PersistentVolumeClaim);
  const volumes = volumesOf(context);
  const caches = { classes, claims, volumes, client: informers.client };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    publish: () => Promise.resolve(),
    failed: () => ({ status: undefined, events: [] }),
  };
  /** Any change of a claim or a volume may have been the end of the last use. */
  const leaving = (): ObjectKey[] =>
    classes
      .list()
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(keyOf);
  return {
    name: "attributesclass",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "attributesclass")),
    sources: [watchInformer(classes), watchInformer(claims, leaving), watchInformer(volumes, leaving)],
    ready: (signal) => Promise.all([classes, claims, volumes].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}
