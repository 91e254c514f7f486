import {
  EndpointSlice,
  runPipeline,
  isConflict,
  keyOf,
  Node,
  Service,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, indexed, podsOf } from "../objects/caches.ts";
import { Deletions } from "../objects/deletions.ts";
import { failureEvents, isNamespaceTerminating, pipelineOptions } from "../objects/pipeline.ts";
import { hasLabels } from "../objects/selector.ts";
import { hasSelector, watchServicePods } from "../objects/service-pods.ts";
import { serviceKeys } from "../objects/slices.ts";
import { byService, gather, manager, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

const byNode = "node";

/** Keeps the EndpointSlices of Services with a selector (k8s.io/kubernetes pkg/controller/endpointslice). */
export function endpointSliceController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const caches = cachesOf(context);
  const { services, pods, slices, nodes } = caches;
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather(caches, key)),
    plan,
    perform: (step, _observed, signal) => perform({ ...caches, context }, step, signal),
    publish: ({ service }, _status, events) => {
      for (const event of events) context.events.event(service, event);
      return Promise.resolve();
    },
    failed: ({ service }, _plan, _step, error) => {
      const { namespace, name } = service.metadata;
      const prefix = `Error updating Endpoint Slices for Service ${namespace}/${name}`;
      const isQuiet = isConflict(error) || isNamespaceTerminating(error);
      return { status: undefined, events: isQuiet ? [] : failureEvents("FailedToUpdateEndpointSlices", prefix, error) };
    },
  };
  return {
    name: "endpointslice",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "endpointslice")),
    sources: [
      watchInformer(services),
      watchServicePods(services, pods),
      watchInformer(slices, ({ object }) => serviceKeys(object, manager)),
      // A pod is an endpoint once its node is known; its zone is the node's.
      watchInformer(nodes, ({ object, previous }) =>
        previous && zoneOf(previous) === zoneOf(object)
          ? []
          : pods.byIndex(byNode, object.metadata.name).flatMap((pod) =>
              services
                .byIndex(by.namespace, pod.metadata.namespace ?? "")
                .filter(
                  (service) => hasSelector(service) && hasLabels(pod.metadata.labels, service.spec.selector ?? {}),
                )
                .map(keyOf),
            ),
      ),
    ],
    ready: (signal) =>
      Promise.all([services, pods, slices, nodes].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}

function cachesOf(context: Context): Caches {
  const { informers } = context;
  const pods = podsOf(context);
  informers.index(pods, { [byNode]: ({ spec }) => (spec.nodeName ? [spec.nodeName] : []) });
  const slices = informers.for(EndpointSlice);
  informers.index(slices, {
    [byService]: (slice) => serviceKeys(slice, manager).map(({ namespace, name }) => `${namespace}/${name}`),
  });
  const services = indexed(context, informers.for(Service));
  return { services, pods, slices, nodes: informers.for(Node), deletions: new Deletions(context) };
}

function zoneOf({ metadata }: Node): string | undefined {
  return metadata.labels?.["topology.kubernetes.io/zone"];
}
