import { ExtensionConfig, type ExtensionConfigStatus } from "@causeway/api";
import { runPipeline, watchInformer, type ControllerOptions, type Pipeline } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { failure, publish } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather, type LastDiscoveries } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { ExtensionStep } from "./steps.ts";

/** Reconciles ExtensionConfigs: discovers which hooks a runtime extension handles. */
export function extensionConfigController(context: Context): ControllerOptions {
  const { clock, log, extensionConfigs } = context;
  const last: LastDiscoveries = new Map();
  const pipeline: Pipeline<Observed, ExtensionStep, ExtensionConfigStatus> = {
    gather: (key, signal) => gather(context, { key, last }, signal),
    plan,
    perform: (step) => perform(step),
    publish: ({ config }, status, events, signal) =>
      publish(context, ExtensionConfig, { object: config, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  return {
    name: "extensionconfig",
    reconcile: runPipeline(pipeline, { clock, log, name: "extensionconfig", metrics: context.metrics }),
    sources: [watchInformer(extensionConfigs)],
    clock,
    log,
  };
}
