import {
  Endpoints,
  EndpointSlice,
  runPipeline,
  isConflict,
  keyOf,
  Service,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, indexed } from "../objects/caches.ts";
import { Deletions } from "../objects/deletions.ts";
import { failureEvents, isNamespaceTerminating, pipelineOptions } from "../objects/pipeline.ts";
import { serviceKeys } from "../objects/slices.ts";
import { byEndpoints, gather, manager, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/**
 * EndpointSlices for the Endpoints that users keep, as kube-controller-manager's endpointslice-mirroring-controller.
 */
export function endpointSliceMirroringController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const caches = cachesOf(context);
  const { services, endpoints, slices } = caches;
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather(caches, key, by.namespace)),
    plan,
    perform: (step, _observed, signal) => perform({ ...caches, context }, step, signal),
    publish: (observed, _status, events) => {
      for (const event of events) if (observed.endpoints) context.events.event(observed.endpoints, event);
      return Promise.resolve();
    },
    failed: ({ key }, _plan, _step, error) => {
      const prefix = `Error mirroring Endpoints ${key.namespace}/${key.name} to EndpointSlices`;
      const isQuiet = isConflict(error) || isNamespaceTerminating(error);
      return { status: undefined, events: isQuiet ? [] : failureEvents("FailedToUpdateEndpointSlices", prefix, error) };
    },
  };
  return {
    name: "endpointslicemirroring",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "endpointslicemirroring")),
    sources: [
      // Only whether a Service has a selector counts.
      watchInformer(services, ({ object, previous, type }) =>
        type !== "deleted" && previous && selects(previous) === selects(object) ? [] : [keyOf(object)],
      ),
      watchInformer(endpoints),
      watchInformer(slices, ({ object, previous }) => [
        ...serviceKeys(object, manager),
        // A slice whose labels were changed belongs to its former Service no longer.
        ...(previous ? serviceKeys(previous, manager) : []),
      ]),
    ],
    ready: (signal) => Promise.all([services, endpoints, slices].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}

function cachesOf(context: Context): Caches {
  const { informers } = context;
  const slices = indexed(context, informers.for(EndpointSlice));
  informers.index(slices, {
    [byEndpoints]: (slice) => serviceKeys(slice, manager).map(({ namespace, name }) => `${namespace}/${name}`),
  });
  const services = informers.for(Service);
  return { services, slices, endpoints: informers.for(Endpoints), deletions: new Deletions(context) };
}

function selects({ spec }: Service): boolean {
  return Object.keys(spec.selector ?? {}).length > 0;
}
