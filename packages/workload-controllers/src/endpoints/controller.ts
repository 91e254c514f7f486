import {
  Endpoints,
  runPipeline,
  isConflict,
  keyOf,
  Service,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { indexed, podsOf } from "../objects/caches.ts";
import { Deletions } from "../objects/deletions.ts";
import { failureEvents, isNamespaceTerminating, pipelineOptions } from "../objects/pipeline.ts";
import { watchServicePods } from "../objects/service-pods.ts";
import { gather, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Keeps the Endpoints of Services with a selector (k8s.io/kubernetes pkg/controller/endpoint). */
export function endpointsController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const services = indexed(context, informers.for(Service));
  const pods = podsOf(context);
  const endpoints = informers.for(Endpoints);
  const caches: Caches = { services, pods, endpoints, deletions: new Deletions(context) };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather(caches, key)),
    plan,
    perform: (step, _observed, signal) => perform({ ...caches, context }, step, signal),
    publish: ({ service }, _status, events) => {
      if (service) for (const event of events) context.events.event(service, event);
      return Promise.resolve();
    },
    failed: ({ key }, _plan, step, error) => {
      if (isConflict(error) || isNamespaceTerminating(error)) return { status: undefined, events: [] };
      const name = `${key.namespace}/${key.name}`;
      const events =
        step.type === "create-endpoints"
          ? failureEvents("FailedToCreateEndpoint", `Failed to create endpoint for service ${name}`, error)
          : failureEvents("FailedToUpdateEndpoint", `Failed to update endpoint ${name}`, error);
      return { status: undefined, events };
    },
  };
  return {
    name: "endpoints",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "endpoints")),
    sources: [
      watchInformer(services),
      watchServicePods(services, pods),
      // All that exist at the start: their Services may have been deleted meanwhile. Later only deletions, as upstream.
      watchInformer(endpoints, ({ type, object }) => (type === "deleted" || !endpoints.synced ? [keyOf(object)] : [])),
    ],
    ready: (signal) => Promise.all([services, pods, endpoints].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}
