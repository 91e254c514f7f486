import { labels, type Cluster, type Machine } from "@causeway/api";
import {
  runPipeline,
  keyOf,
  watchInformer,
  type ControllerOptions,
  type KubeObject,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { messageOf } from "@causeway/foundation";
import { by, clusterKeyOf, indexOfCluster, providerKinds, type Context } from "../objects/context.ts";
import { performAndReport } from "../objects/pipeline.ts";
import type { TopologyReport } from "../objects/topology-reports.ts";
import { referencesOf } from "./blueprint.ts";
import { namesExtension } from "./external.ts";
import { RotationBrake } from "./brake.ts";
import { Differences } from "./differences.ts";
import type { Observed } from "./observed.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, topologyStepEvents } from "./plan.ts";
import { SkippedPatches } from "./skipped-patches.ts";
import type { TopologyStep } from "./steps.ts";

/** Reconciles Clusters with a topology: applies what their ClusterClass makes of it. */
export function topologyController(context: Context): ControllerOptions {
  const { clock, log, topologies } = context;
  const differences = new Differences(context.informers.client);
  const brake = new RotationBrake();
  const skipped = new SkippedPatches();
  const pipeline: Pipeline<Observed, TopologyStep, TopologyReport> = {
    async gather(key, signal) {
      const observed = await gather(context, { differences, brake, skipped }, { key, signal });
      if (!observed) topologies.set(key, undefined);
      return observed;
    },
    plan,
    perform: (step, { cluster }, signal) =>
      performAndReport(context, { object: cluster, events: topologyStepEvents(step) }, perform(context, step, signal)),
    publish({ cluster }, report, events) {
      topologies.set(keyOf(cluster), report);
      for (const event of events) context.events.event(cluster, event);
      return Promise.resolve();
    },
    failed: (_observed, _plan, step, error) => {
      const message = `${aboutStep(step)}: ${messageOf(error)}`;
      return {
        status: { condition: { type: "TopologyReconciled", status: "False", reason: "ReconcileFailed", message } },
        events: [{ type: "Warning", reason: "TopologyReconcileFailed", message }],
      };
    },
    aimOf: (step) => ({
      type: step.type,
      target: step.type === "apply" ? `${step.made.kind.kind}/${step.made.object.metadata.name}` : step.type,
    }),
  };
  return {
    name: "topology-cluster",
    reconcile: runPipeline(pipeline, { clock, log, name: "topology-cluster", metrics: context.metrics }),
    sources: sources(context),
    clock,
    log,
  };
}

function aboutStep(step: TopologyStep): string {
  if (step.type === "apply")
    return `failed to ${step.why === "update" ? "patch" : "create"} ${step.made.kind.kind}.${step.made.kind.group}`;
  return step.type === "delete" ? `failed to delete ${step.resource.kind} ${step.key.name}` : "failed to patch Cluster";
}

function sources(context: Context): Source[] {
  const { clusters, classes, deployments, pools, sets, machines, healthChecks, informers, extensionConfigs } = context;
  const ofClass = (key: ObjectKey) => clusters.byIndex(by.class, indexOfCluster(key)).map(keyOf);
  const owned = <T extends KubeObject & { spec: { clusterName: string } }>(object: T) =>
    isOwned(object) ? [clusterKeyOf(object)] : [];
  return [
    watchInformer(clusters, ({ object, previous }) => (concerns(object, previous) ? [keyOf(object)] : [])),
    watchInformer(classes, ({ object }) => ofClass(keyOf(object))),
    watchInformer(extensionConfigs, ({ object }) =>
      classes.list().flatMap((one) => (namesExtension(one, object.metadata.name) ? ofClass(keyOf(one)) : [])),
    ),
    watchInformer(deployments, ({ object }) => owned(object)),
    watchInformer(pools, ({ object }) => owned(object)),
    watchInformer(healthChecks, ({ object }) => owned(object)),
    watchInformer(sets, ({ object, type }) => (type === "deleted" ? [clusterKeyOf(object)] : [])),
    // Of machines only their versions count.
    watchInformer(machines, ({ object, previous }) =>
      previous && versionOf(previous) === versionOf(object) ? [] : owned(object),
    ),
    ...providerKinds(context).map((kind) =>
      watchInformer(informers.for(kind), ({ object }) => [
        ...clusterOf(object),
        ...classesWith(context, object).flatMap(ofClass),
      ]),
    ),
  ];
}

/** A Cluster's status is its own controller's; topologies are decided on the rest. */
function concerns(object: Cluster, previous: Cluster | undefined): boolean {
  if (!object.spec.topology) return false;
  const of = ({ metadata }: Cluster) =>
    JSON.stringify([metadata.generation, metadata.labels, metadata.annotations, metadata.deletionTimestamp]);
  return previous === undefined || of(object) !== of(previous);
}

function versionOf({ spec, metadata }: Machine): string {
  return `${spec.version ?? ""} ${metadata.deletionTimestamp ?? ""}`;
}

function isOwned({ metadata }: KubeObject): boolean {
  return metadata.labels?.[labels.topologyOwned] !== undefined;
}

function clusterOf(object: KubeObject): ObjectKey[] {
  const name = object.metadata.labels?.[labels.clusterName];
  return isOwned(object) && name !== undefined ? [{ namespace: object.metadata.namespace ?? "", name }] : [];
}

/** The ClusterClasses that refer to an object. */
export function classesWith({ classes }: Context, object: KubeObject): ObjectKey[] {
  if (!object.kind.endsWith("Template")) return [];
  const group = object.apiVersion.split("/")[0] ?? "";
  const refers = classes
    .list(object.metadata.namespace)
    .filter((one) =>
      referencesOf(one).some(
        ({ reference }) =>
          reference.kind === object.kind &&
          reference.name === object.metadata.name &&
          reference.apiVersion.startsWith(`${group}/`),
      ),
    );
  return refers.map(keyOf);
}
