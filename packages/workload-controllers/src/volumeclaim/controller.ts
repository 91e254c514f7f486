import { messageOf } from "@causeway/foundation";
import {
  runPipeline,
  isConflict,
  keyOf,
  Pod,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import {
  claimIndex,
  claimsOf,
  claimsUsedBy,
  isShutDown,
  type PersistentVolumeClaim,
  StorageClass,
  volumeClaimKey,
  volumesOf,
} from "../objects/storage.ts";
import { byClaim, gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Claims that wait for a volume are tried when volumes, classes or the pods that use them change. */
export function volumeClaimController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const claims = claimsOf(context);
  const volumes = volumesOf(context);
  const storageClasses = informers.for(StorageClass);
  const pods = informers.for(Pod);
  informers.index(pods, { [byClaim]: claimsUsedBy });
  const caches = { claims, volumes, storageClasses, pods, client: informers.client };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    publish({ claim }, _status, events) {
      for (const event of events) context.events.event(claim, event);
      return Promise.resolve();
    },
    failed: (_observed, _plan, step, error) => ({
      status: undefined,
      events: isConflict(error)
        ? []
        : [{ type: "Warning", reason: "FailedBinding", message: `${step.type}: ${messageOf(error)}` }],
    }),
  };
  const waiting = (): ObjectKey[] => claims.byIndex(claimIndex.waiting, "yes").filter(isTried).map(keyOf);
  return {
    name: "volumeclaim",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "volumeclaim")),
    sources: [
      watchInformer(claims),
      watchInformer(volumes, ({ type, object }) => {
        const claim = volumeClaimKey(object);
        if (claim) return [claim];
        const ofVolume = claims.byIndex(claimIndex.volume, object.metadata.name).map(keyOf);
        return type === "deleted" ? ofVolume : [...ofVolume, ...waiting()];
      }),
      watchInformer(storageClasses, ({ type }) => (type === "deleted" ? [] : waiting())),
      watchInformer(pods, ({ type, object, previous }) => {
        const isOther =
          type !== "updated" ||
          previous?.spec.nodeName !== object.spec.nodeName ||
          isShutDown(object) !== (previous !== undefined && isShutDown(previous));
        return isOther ? claimsUsedBy(object).map(keyFrom) : [];
      }),
    ],
    ready: (signal) =>
      Promise.all([claims, volumes, storageClasses, pods].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}

function isTried({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.deletionTimestamp === undefined;
}

function keyFrom(id: string): ObjectKey {
  const [namespace = "", name = ""] = id.split("/");
  return { namespace, name };
}
