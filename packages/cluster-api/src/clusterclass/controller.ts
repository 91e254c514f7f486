import { ClusterClass, type ClusterClassStatus } from "@causeway/api";
import { keyOf, runPipeline, watchInformer, type ControllerOptions, type Pipeline } from "@causeway/kubernetes";
import { lookUp, templateKinds, type Context } from "../objects/context.ts";
import { failure, perform, publish } from "../objects/pipeline.ts";
import type { ObjectStep } from "../objects/steps.ts";
import { referencesOf } from "../topology/blueprint.ts";
import { classesWith } from "../topology/controller.ts";
import { namesExtension } from "../topology/external.ts";
import type { Observed } from "./observed.ts";
import { discoverVariables } from "./discover.ts";
import { isPausedClass, plan } from "./plan.ts";
import { classProblems } from "./problems.ts";

/** Reconciles ClusterClasses: owns their templates and reports problems of their variables and patches. */
export function clusterClassController(context: Context): ControllerOptions {
  const { clock, log, classes, informers, extensionConfigs } = context;
  const pipeline: Pipeline<Observed, ObjectStep, ClusterClassStatus> = {
    async gather(key, signal) {
      const clusterClass = classes.get(key);
      if (!clusterClass) return undefined;
      const templates = referencesOf(clusterClass).map(({ path, reference }) => {
        const { apiVersion, kind, name } = reference;
        return {
          path,
          reference,
          found: lookUp(context, key.namespace, { apiGroup: apiVersion.split("/")[0] ?? "", kind, name }),
        };
      });
      // No extension is called for an invalid or paused class.
      const isAsked = !isPausedClass(clusterClass) && classProblems(clusterClass).length === 0;
      const discovered = isAsked ? await discoverVariables({ calls: context.named, clock }, clusterClass, signal) : [];
      return { clusterClass, templates, discovered };
    },
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
