import { messageOf } from "@causeway/foundation";
import { runPipeline, keyOf, watchInformer, type ControllerOptions, type Pipeline } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { publish, pipelineOptions } from "../objects/pipeline.ts";
import { Autoscaler } from "./autoscaler.ts";
import { gather, type Caches } from "./gather.ts";
import type { Observed } from "./observed.ts";
import { perform } from "./perform.ts";
import { failedScale, plan, warning, withInitial, type Outcome } from "./plan.ts";
import { Remembered } from "./remembered.ts";
import type { Step } from "./steps.ts";

/** Gives targets the size that their metrics ask for, as kube-controller-manager's horizontal-pod-autoscaler. */
export function horizontalController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const autoscalers = informers.for(Autoscaler);
  const remembered = new Remembered();
  const caches: Caches = { autoscalers, client: informers.client, clock, remembered };
  const pipeline: Pipeline<Observed, Step, Outcome> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    async perform(step, observed, signal) {
      await perform(context, observed, step, signal);
      const key = keyOf(observed.autoscaler);
      remembered.scaled(key, { from: step.target.replicas, to: step.to, at: clock.now() });
      log.info("a target has a new size", {
        autoscaler: key,
        from: step.target.replicas,
        to: step.to,
        reason: step.reason,
      });
    },
    async publish({ autoscaler, at, scale, memory, settled }, { status, recommendation }, events, signal) {
      await publish(context, Autoscaler, { object: autoscaler, status, events, signal });
      if (settled) return;
      const known = typeof scale === "string" ? memory : withInitial({ memory, at }, scale.replicas);
      const latest = recommendation === undefined ? [] : [{ at, replicas: recommendation }];
      remembered.settle(keyOf(autoscaler), status, [...known.recommendations, ...latest]);
    },
    failed({ autoscaler }, { status }, { to, reason }, error) {
      remembered.expire(keyOf(autoscaler));
      const why = messageOf(error);
      const event = warning("FailedRescale", `New size: ${to}; reason: ${reason}; error: ${why}`);
      return { status: { status: failedScale(status.status, why, clock.now()) }, events: [event] };
    },
  };
  return {
    name: "horizontal-pod-autoscaler",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "horizontal-pod-autoscaler")),
    sources: [watchInformer(autoscalers)],
    ready: (signal) => autoscalers.whenSynced(signal),
    clock,
    log,
  };
}
