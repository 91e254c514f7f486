import { runPipeline, keyOf, Pod, watchInformer, type ControllerOptions, type Pipeline } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { failureEvents, pipelineOptions } from "../objects/pipeline.ts";
import { PersistentVolumeClaim } from "../objects/storage.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { ephemeralVolumes, plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Creates the claims of generic ephemeral volumes (k8s.io/kubernetes pkg/controller/volume/ephemeral). */
export function ephemeralVolumeController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const pods = informers.for(Pod);
  const claims = informers.for(PersistentVolumeClaim);
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather({ pods, claims }, key)),
    plan,
    perform: (step, _observed, signal) => perform(context, step, signal),
    publish({ pod }, _status, events) {
      for (const event of events) context.events.event(pod, event);
      return Promise.resolve();
    },
    failed: (_observed, _plan, { claim }, error) => ({
      status: undefined,
      events: failureEvents("FailedBinding", `ephemeral volume: create PVC ${claim.metadata.name}`, error),
    }),
  };
  return {
    name: "ephemeralvolume",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "ephemeralvolume")),
    sources: [
      watchInformer(pods, ({ type, object }) =>
        type === "added" && ephemeralVolumes(object).length > 0 ? [keyOf(object)] : [],
      ),
      // A claim of the name that a user made may be in the way until it is deleted.
      watchInformer(claims, ({ type, object }) =>
        type === "deleted"
          ? pods
              .list(object.metadata.namespace)
              .filter((pod) =>
                ephemeralVolumes(pod).some(({ name }) => `${pod.metadata.name}-${name}` === object.metadata.name),
              )
              .map(keyOf)
          : [],
      ),
    ],
    ready: (signal) => Promise.all([pods, claims].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}
