import { MachineSet, type MachineSetStatus } from "@causeway/api";
import {
  collected,
  controllerOf,
  runPipeline,
  keyOf,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type KubeObject,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { by, membersOf, providerKinds, type Context } from "../objects/context.ts";
import { statusVersionOf } from "../contract/provider-object.ts";
import { objectIndex } from "../contract/kind-table.ts";
import { CalmStatus } from "../objects/calm-status.ts";
import { failure, publishCalmly, performAndReport } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { machineSetStepEvents, plan } from "./plan.ts";
import type { MachineSetStep } from "./steps.ts";

/** Reconciles MachineSets: keeps a number of Machines, and replaces unhealthy ones. */
export function machineSetController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const calm = new CalmStatus(clock);
  const pipeline: Pipeline<Observed, MachineSetStep, MachineSetStatus> = {
    gather: (key) => Promise.resolve(gather(context, key)),
    plan,
    perform: (step, { set }, signal) =>
      performAndReport(context, { object: set, events: machineSetStepEvents(step) }, perform(context, step, signal)),
    publish: ({ set }, status, events, signal) =>
      publishCalmly(context, calm, MachineSet, { object: set, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  return {
    name: "machineset",
    reconcile: runPipeline(pipeline, { clock, log, name: "machineset", metrics: context.metrics }),
    sources: sources(context),
    clock,
    log,
  };
}

function sources(context: Context): Source[] {
  const { clusters, machines, sets, informers } = context;
  return [
    watchInformer(sets),
    collected(watchOwner(machines, MachineSet.kind), (key) => sets.get(key)?.spec.replicas ?? 1),
    // A Machine without a controller may be one to adopt.
    watchInformer(machines, ({ object }) =>
      controllerOf(object)
        ? []
        : sets.byIndex(by.cluster, `${object.metadata.namespace ?? ""}/${object.spec.clusterName}`).map(keyOf),
    ),
    watchInformer(clusters, ({ object, previous }) =>
      previous && previous.metadata.generation === object.metadata.generation ? [] : membersOf(sets, keyOf(object)),
    ),
    ...providerKinds(context).map((kind) =>
      watchInformer(informers.for(kind), ({ object, previous }) =>
        previous && isAlike(previous, object)
          ? []
          : [
              ...sets.byIndex(by.reference, objectIndex(object)),
              ...clusters
                .byIndex(by.reference, objectIndex(object))
                .flatMap((cluster) =>
                  sets.byIndex(by.cluster, `${cluster.metadata.namespace ?? ""}/${cluster.metadata.name}`),
                ),
            ].map(keyOf),
      ),
    ),
  ];
}

/** Neither a new template nor another version that a control plane has reached, which Machines may wait for. */
function isAlike(before: KubeObject, now: KubeObject): boolean {
  return before.metadata.generation === now.metadata.generation && statusVersionOf(before) === statusVersionOf(now);
}
