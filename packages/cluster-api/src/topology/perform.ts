import { Cluster } from "@causeway/api";
import type { Context } from "../objects/context.ts";
import { performWrite } from "../objects/pipeline.ts";
import { topologyManager, type TopologyStep } from "./steps.ts";

/**
 * Each step may be repeated: names are determined by what objects are for. The client shows what it wrote to the
 * caches.
 */
export async function perform(context: Context, step: TopologyStep, signal: AbortSignal): Promise<void> {
  const { client } = context.informers;
  const options = { fieldManager: topologyManager, signal };
  switch (step.type) {
    case "apply-cluster":
      await client.apply(Cluster, step.object, options);
      return;
    case "set-variables":
      await client.patch(
        Cluster,
        step.key,
        { type: "merge", body: step.body },
        { ...options, fieldManager: `${topologyManager}-variables` },
      );
      return;
    case "set-hooks":
      await client.patch(
        Cluster,
        step.key,
        { type: "merge", body: step.body },
        { ...options, fieldManager: `${topologyManager}-hooks` },
      );
      return;
    case "apply":
      await client.apply(step.made.kind, step.made.object, options);
      return;
    case "delete":
      return performWrite(context, step, signal);
  }
}
