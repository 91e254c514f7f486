import {
  runPipeline,
  PersistentVolume,
  VolumeAttachment,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import { CONCURRENCY, type Context } from "../context.ts";
import { shownError } from "../errors.ts";
import { attachmentIndexes } from "../indexes.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What csi-provisioner does for volumes whose claim is gone. Keys are names of volumes. */
export function reclaimController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const volumes = informers.for(PersistentVolume);
  const attachments = informers.for(VolumeAttachment);
  informers.index(attachments, attachmentIndexes);
  const deleted = new Set<string>();
  const caches = { driver, volumes, attachments, deleted };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather(caches, key)),
    plan,
    perform: (step, observed, signal) => perform({ context, deleted }, observed, step, signal),
    publish({ volume }, _status, events) {
      for (const event of events) context.events.event(volume, event);
      return Promise.resolve();
    },
    failed(_observed, _plan, _step, error) {
      const shown = shownError(error);
      const event = { type: "Warning" as const, reason: "VolumeFailedDelete", message: shown ?? "" };
      return { status: undefined, events: shown === undefined ? [] : [event] };
    },
  };
  return {
    name: "csi-reclaim",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-reclaim" }),
    sources: [
      watchInformer(volumes, ({ type, object }) => {
        if (type === "deleted") deleted.delete(object.metadata.uid ?? "");
        return [{ namespace: "", name: object.metadata.name }];
      }),
      watchInformer(attachments, ({ type, object: { spec } }) =>
        type === "deleted" ? [{ namespace: "", name: spec.source.persistentVolumeName ?? "" }] : [],
      ),
    ],
    ready: (signal) => Promise.all([volumes, attachments].map((each) => each.whenSynced(signal))).then(() => {}),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}
