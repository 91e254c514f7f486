import {
  Deployment,
  runPipeline,
  keyOf,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
  watchInformer,
  type ControllerOptions,
  type Informer,
  type Pod,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import { PodDisruptionBudget } from "../objects/budget.ts";
import { by, indexed, podsOf } from "../objects/caches.ts";
import { labelTest } from "../model/selector.ts";
import { gather, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import { Scales } from "./scales.ts";
import type { Step } from "./steps.ts";

/** Keeps the status of PodDisruptionBudgets, which evictions obey (k8s.io/kubernetes pkg/controller/disruption). */
export function disruptionController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const budgets = indexed(context, informers.for(PodDisruptionBudget));
  const pods = podsOf(context);
  const owners = {
    replicaSets: informers.for(ReplicaSet),
    deployments: informers.for(Deployment),
    replicationControllers: informers.for(ReplicationController),
    statefulSets: informers.for(StatefulSet),
  };
  const caches: Caches = { budgets, pods, ...owners, scales: new Scales(informers.client) };
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    publish({ budget }, _status, events) {
      for (const event of events) context.events.event(budget, event);
      return Promise.resolve();
    },
    failed: () => ({ status: undefined, events: [] }),
  };
  return {
    name: "disruption",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "disruption")),
    sources: [
      watchInformer(budgets),
      watchInformer(pods, ({ object, previous }) =>
        [...new Set([...selecting(budgets, object), ...(previous ? selecting(budgets, previous) : [])])].map(keyOf),
      ),
    ],
    ready: (signal) =>
      Promise.all([budgets, pods, ...Object.values(owners)].map((each) => each.whenSynced(signal))).then(() => {}),
    clock,
    log,
  };
}

function selecting(budgets: Informer<PodDisruptionBudget>, { metadata }: Pod): readonly PodDisruptionBudget[] {
  return budgets
    .byIndex(by.namespace, metadata.namespace ?? "")
    .filter(({ spec }) => labelTest(spec?.selector)(metadata.labels ?? {}));
}
