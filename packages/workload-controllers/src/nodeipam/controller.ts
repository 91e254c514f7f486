import { runPipeline, Node, watchInformer, type ControllerOptions, type Pipeline } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/**
 * Networks for the pods of nodes, as kube-controller-manager with --allocate-node-cidrs. Without networks of the
 * cluster it does nothing.
 */
export function nodeIpamController(context: Context): ControllerOptions {
  const { clock, log, informers, events, clusterCIDRs = [] } = context;
  const nodes = informers.for(Node);
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => Promise.resolve(gather({ nodes, clusterCIDRs }, key)),
    plan,
    perform: (step, _observed, signal) => perform(context, step, signal),
    publish: ({ node }, _status, planned) => {
      for (const event of planned) events.event(node, event);
      return Promise.resolve();
    },
    failed: () => ({ status: undefined, events: [] }),
  };
  return {
    name: "node-ipam",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "node-ipam")),
    sources: [
      watchInformer(nodes, ({ type, object: { metadata, spec } }) =>
        type === "deleted" || clusterCIDRs.length === 0 || spec?.podCIDR !== undefined
          ? []
          : [{ namespace: "", name: metadata.name }],
      ),
    ],
    ready: (signal) => nodes.whenSynced(signal),
    // Two at once could choose the same network: the second must see the response of the first.
    concurrency: 1,
    clock,
    log,
  };
}
