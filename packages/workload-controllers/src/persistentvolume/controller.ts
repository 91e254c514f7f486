import {
  runPipeline,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import { PersistentVolumeClaim, volumesOf, volumeIndex } from "../objects/storage.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/**
 * Keeps phase and protection of volumes (the volume half of k8s.io/kubernetes pkg/controller/volume/persistentvolume).
 */
export function persistentVolumeController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const volumes = volumesOf(context);
  const claims = informers.for(PersistentVolumeClaim);
  const find = (key: ObjectKey, signal: AbortSignal) => informers.client.find(PersistentVolumeClaim, key, { signal });
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key, signal) => gather({ volumes, claims, find }, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    publish({ volume }, _status, events) {
      for (const event of events) context.events.event(volume, event);
      return Promise.resolve();
    },
    failed: () => ({ status: undefined, events: [] }),
  };
  const volumeKey = (name: string): ObjectKey => ({ namespace: "", name });
  return {
    name: "persistentvolume",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "persistentvolume")),
    sources: [
      watchInformer(volumes),
      watchInformer(claims, ({ object: { metadata, spec } }) => {
        const naming = volumes.byIndex(volumeIndex.claim, `${metadata.namespace}/${metadata.name}`);
        const names = new Set(naming.map((volume) => volume.metadata.name));
        if (spec.volumeName) names.add(spec.volumeName);
        return [...names].map(volumeKey);
      }),
    ],
    ready: (signal) => Promise.all([volumes, claims].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}
