import { ClusterClass, type ClusterClassStatus } from "@causeway/api";
import { keyOf, runPipeline, watchInformer, type ControllerOptions, type Pipeline } from "@causeway/kubernetes";
import { templateKinds, type Context } from "../objects/context.ts";
import { failure, publish } from "../objects/pipeline.ts";
import { classesWith } from "../topology/controller.ts";
import { namesExtension } from "../topology/external.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { ClassStep } from "./steps.ts";

/** Reconciles ClusterClasses: owns their templates and reports problems of their variables and patches. */
export function clusterClassController(context: Context): ControllerOptions {
  const { clock, log, classes, informers, extensionConfigs } = context;
  const pipeline: Pipeline<Observed, ClassStep, ClusterClassStatus> = {
    gather: (key, signal) => gather(context, key, signal),
    plan,
    perform: (step, _observed, signal) => perform(context, step, signal),
    publish: ({ clusterClass }, status, events, signal) =>
      publish(context, ClusterClass, { object: clusterClass, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  return {
    name: "clusterclass",
    reconcile: runPipeline(pipeline, { clock, log, name: "clusterclass", metrics: context.metrics }),
    sources: [
      watchInformer(classes),
      // Statuses change, too: they say which handlers there are.
      watchInformer(extensionConfigs, ({ object }) =>
        classes
          .list()
          .filter((one) => namesExtension(one, object.metadata.name))
          .map(keyOf),
      ),
      ...templateKinds(context).map((kind) =>
        watchInformer(informers.for(kind), ({ object }) => classesWith(context, object)),
      ),
    ],
    clock,
    log,
  };
}
