import {
  runPipeline,
  PersistentVolume,
  PersistentVolumeClaim,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import { CONCURRENCY, type Context } from "../context.ts";
import { shownError } from "../errors.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What csi-resizer does. Keys are those of claims. */
export function resizeController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const claims = informers.for(PersistentVolumeClaim);
  const volumes = informers.for(PersistentVolume);
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather({ driver, claims, volumes }, key)),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    publish({ claim }, _status, events) {
      for (const event of events) context.events.event(claim, event);
      return Promise.resolve();
    },
    failed({ found }, _plan, _step, error) {
      const shown = shownError(error);
      const message = `resize volume "${found.volume.metadata.name}" failed: ${shown}`;
      return {
        status: undefined,
        events: shown === undefined ? [] : [{ type: "Warning", reason: "VolumeResizeFailed", message }],
      };
    },
  };
  return {
    name: "csi-resize",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-resize" }),
    sources: [
      watchInformer(claims),
      watchInformer(volumes, ({ object: { spec } }) => {
        const { namespace = "", name } = spec.claimRef ?? {};
        return name === undefined ? [] : [{ namespace, name }];
      }),
    ],
    ready: (signal) => Promise.all([claims, volumes].map((each) => each.whenSynced(signal))).then(() => {}),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}
