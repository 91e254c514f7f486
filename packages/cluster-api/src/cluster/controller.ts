import { Cluster, type ClusterStatus } from "@causeway/api";
import {
  collected,
  runPipeline,
  keyOf,
  watchInformer,
  type ControllerOptions,
  type Informer,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { by, clusterKeyOf, onConnectionChange, providerKinds, type Context, type Member } from "../objects/context.ts";
import { objectIndex } from "../contract/kind-table.ts";
import { CalmStatus } from "../objects/calm-status.ts";
import { failure, publishCalmly, performAndReport } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { clusterStepEvents, plan } from "./plan.ts";
import type { ClusterStep } from "./steps.ts";

/** Reconciles Clusters: infrastructure, control plane, the connection to the workload cluster, deletion in order. */
export function clusterController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const calm = new CalmStatus(clock);
  const pipeline: Pipeline<Observed, ClusterStep, ClusterStatus> = {
    gather: (key) => Promise.resolve(gather(context, key)),
    plan,
    perform: (step, { cluster }, signal) =>
      performAndReport(context, { object: cluster, events: clusterStepEvents(step) }, perform(context, step, signal)),
    publish: ({ cluster }, status, events, signal) =>
      publishCalmly(context, calm, Cluster, { object: cluster, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  return {
    name: "cluster",
    reconcile: runPipeline(pipeline, { clock, log, name: "cluster", metrics: context.metrics }),
    sources: sources(context),
    clock,
    log,
  };
}

function sources(context: Context): Source[] {
  const { clusters, machines, sets, deployments, pools, informers, remoteClusters } = context;
  const members = (key: ObjectKey): number => clusters.get(key)?.status?.workers?.replicas ?? 0;
  return [
    watchInformer(clusters),
    ...[machines, sets, deployments, pools].map((informer: Informer<Member>) =>
      collected(
        watchInformer(informer, ({ object }) => [clusterKeyOf(object)]),
        members,
      ),
    ),
    ...providerKinds(context).map((kind) =>
      watchInformer(informers.for(kind), ({ object }) =>
        clusters.byIndex(by.reference, objectIndex(object)).map(keyOf),
      ),
    ),
    (enqueue) => onConnectionChange(remoteClusters, ({ key }) => enqueue(key)),
    (enqueue) => context.topologies.onChange(enqueue),
  ];
}
