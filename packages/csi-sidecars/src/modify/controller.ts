import {
  runPipeline,
  PersistentVolume,
  PersistentVolumeClaim,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import { CONCURRENCY, type Context } from "../context.ts";
import { isFinal, shownError } from "../errors.ts";
import { gather, type Observed } from "./gather.ts";
import { wantedClass } from "./plan-class.ts";
import { perform, publishProgress } from "./perform.ts";
import { plan, type Status } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What csi-resizer does for VolumeAttributesClasses. Keys are those of claims. */
export function modifyController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const claims = informers.for(PersistentVolumeClaim);
  const volumes = informers.for(PersistentVolume);
  const caches = { driver, client: informers.client, claims, volumes };
  const pipeline: Pipeline<Observed, Step, Status> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    async publish(observed, progress, events, signal) {
      for (const event of events) context.events.event(observed.claim, event);
      if (progress) await publishProgress(context, observed, progress, signal);
    },
    failed({ claim }, _plan, _step, error) {
      const shown = shownError(error);
      const target = wantedClass(claim) ?? "";
      const message = `failed to modify volume ${claim.spec.volumeName} with vac ${target}: ${shown}`;
      return {
        status: isFinal(error) ? { target, status: "Infeasible" } : undefined,
        events: shown === undefined ? [] : [{ type: "Warning", reason: "VolumeModifyFailed", message }],
      };
    },
  };
  return {
    name: "csi-modify",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-modify" }),
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
