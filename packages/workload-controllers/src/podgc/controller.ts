import {
  runPipeline,
  Node,
  Pod,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import { Deletions } from "../objects/deletions.ts";
import { Absences, endedKey, garbageOf, gather, index, nodeKey, unscheduledKey, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** Keys are nodes, and two for the pods that are judged without one. */
export function podGcController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const nodes = informers.for(Node);
  const pods = informers.for(Pod);
  informers.index(pods, {
    [index.node]: ({ spec }) => (spec.nodeName ? [spec.nodeName] : []),
    [index.garbage]: garbageOf,
  });
  const deletions = new Deletions(context);
  const find = (name: string, signal: AbortSignal) => informers.client.find(Node, { namespace: "", name }, { signal });
  const caches = { nodes, pods, absences: new Absences(), find };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    async gather(key, signal) {
      const observed = await gather(caches, key, { now: clock.now(), signal });
      return { ...observed, pods: deletions.remaining(observed.pods) };
    },
    plan,
    perform: (step, _observed, signal) => perform({ context, deletions }, step, signal),
    publish: () => Promise.resolve(),
    failed: () => ({ status: undefined, events: [] }),
  };
  return {
    name: "podgc",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "podgc")),
    sources: [
      watchInformer(nodes, ({ type, object, previous }) =>
        type === "deleted" || !previous || state(previous) !== state(object) ? [nodeKey(object.metadata.name)] : [],
      ),
      watchInformer(pods, ({ type, object, previous }) => (type === "deleted" ? [] : keysOf(object, previous))),
    ],
    ready: (signal) => Promise.all([nodes, pods].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };

  /** A pod that runs on a node that is there concerns no key. */
  function keysOf(pod: Pod, previous: Pod | undefined): ObjectKey[] {
    const { nodeName } = pod.spec;
    const garbage = garbageOf(pod);
    const keys = garbage.map((name) => (name === endedKey.name ? endedKey : unscheduledKey));
    const isLeaving =
      pod.metadata.deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined;
    const isLost = nodeName && (isLeaving || !nodes.get({ namespace: "", name: nodeName }));
    return isLost ? [...keys, nodeKey(nodeName)] : keys;
  }
}

function state({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "";
  return [ready, ...(spec?.taints ?? []).map(({ key }) => key)].join();
}
