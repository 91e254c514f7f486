import { labels, OpenStackCluster, type Cluster, type OpenStackClusterStatus } from "@causeway/api";
import {
  collected,
  runPipeline,
  publishStatus,
  runController,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Reconcile,
  type Pipeline,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import { failureOf } from "../reactions/failure.ts";
import { publishedMessage, refusalOf } from "../reactions/refusals.ts";
import { unreadReport } from "../reactions/unread.ts";
import { leavingOwner } from "./leaving.ts";
import { gather, type ClusterGathered, type ClusterSources } from "./gather.ts";
import type { ClusterStep } from "./steps.ts";
import { plan, type ClusterPlan } from "./plan.ts";
import { fieldManager } from "./perform-context.ts";
import { perform } from "./perform.ts";

/** What the controller of OpenStackClusters works with. `shards` says which namespaces are this process's. */
export interface ClusterControllerOptions {
  readonly informers: Informers;
  readonly sources: ClusterSources;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
  readonly shards?: Shards | undefined;
}

/** The reconcile pipeline of OpenStackClusters. */
export function reconcileCluster(options: ClusterControllerOptions): Reconcile {
  const { informers, sources, clock, events } = options;
  const { client } = informers;
  const pipeline: Pipeline<ClusterGathered, ClusterStep, OpenStackClusterStatus, ClusterPlan> = {
    gather: (key, signal) => gather(sources, key, signal),
    async unread(key, error, signal) {
      const object = sources.openStackClusters.get(key);
      if (!object) return;
      const { conditions, event } = unreadReport(object, { type: "NetworkReady", error, now: clock.now() });
      const status = conditions && { ...object.status, conditions };
      if (status) await publishStatus(client, OpenStackCluster, object, { status, fieldManager, signal });
      if (event) events.event(object, event);
    },
    plan,
    planned: (observed, planned, now) => requestLists(sources, observed, { plan: planned, now }),
    perform: (step, observed, signal) =>
      perform(step, { object: latest(sources, observed), session: observed.session, client, events }, signal),
    async publish(observed, status, planned, signal) {
      const object = sources.openStackClusters.get(keyOf(observed));
      if (!object || object.metadata.uid !== observed.object.metadata.uid) return;
      await publishStatus(client, OpenStackCluster, object, { status, fieldManager, signal });
      for (const event of planned) events.event(object, event);
    },
    failed(observed, plan, step, error) {
      const reason = step.type === "remove-finalizer" ? "FinalizerError" : "OpenStackError";
      const refusal = refusalOf(error, reason, { known: publishedMessage(observed.object, step.for) });
      sources.refusals.note(observed.object, step.for, refusal);
      const moment = { generation: observed.object.metadata.generation, now: clock.now() };
      return failureOf(plan.status, { type: step.for, refusal }, moment);
    },
  };
  return runPipeline(pipeline, { clock, log: options.log, name: "openstackcluster", metrics: options.metrics });
}

/** Runs the controller until the signal aborts. */
export function runClusterController(options: ClusterControllerOptions, signal: AbortSignal): Promise<void> {
  const { sources, clock, log, shards } = options;
  const all: Source[] = [
    watchInformer(sources.openStackClusters),
    watchInformer(sources.clusters, ({ object }) => infrastructureOf(object)),
    // Machines that start together cause one plan: each plan reads all machines of the cluster.
    collected(
      watchInformer(sources.machines, ({ object }) => {
        const name = object.metadata.labels?.[labels.clusterName];
        const namespace = object.metadata.namespace ?? "";
        const cluster = name === undefined ? undefined : sources.clusters.get({ namespace, name });
        return cluster ? infrastructureOf(cluster) : name === undefined ? [] : [{ namespace, name }];
      }),
    ),
    // One that leaves the control plane leaves the load balancer.
    watchInformer(sources.owners, ({ object, previous }) => {
      const isLeaving = leavingOwner(object)?.isTerminating === true;
      if (object.metadata.labels?.[labels.controlPlane] === undefined || !isLeaving) return [];
      if (previous && leavingOwner(previous)?.isTerminating === true) return [];
      const namespace = object.metadata.namespace ?? "";
      const cluster = sources.clusters.get({ namespace, name: object.spec.clusterName });
      return cluster ? infrastructureOf(cluster) : [];
    }),
    watchInformer(sources.secrets, ({ object: { metadata } }) =>
      sources.openStackClusters
        .byIndex("identity", `${metadata.namespace ?? ""}/${metadata.name}`)
        .map((cluster) => ({ namespace: cluster.metadata.namespace ?? "", name: cluster.metadata.name })),
    ),
    watchInformer(sources.clusterIdentities, ({ object }) =>
      sources.openStackClusters
        .byIndex("clusterIdentity", object.metadata.name)
        .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name })),
    ),
    watchInformer(sources.openStackServers, ({ object: { metadata } }) =>
      (metadata.ownerReferences ?? [])
        .filter(({ kind }) => kind === "OpenStackCluster")
        .map(({ name }) => ({ namespace: metadata.namespace ?? "", name })),
    ),
    // Whether an OpenStackClusterIdentity may be used depends on the namespace's labels.
    watchInformer(sources.namespaces, ({ object }) =>
      sources.openStackClusters
        .list(object.metadata.name)
        .filter(({ spec }) => spec.identityRef.type === "ClusterIdentity")
        .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name })),
    ),
    sources.interests.source,
  ];
  return runController(
    { name: "openstackcluster", reconcile: reconcileCluster(options), sources: all, clock, log, shards },
    signal,
  );
}

/**
 * Requests the lists that show what the plan waits for, whose informers cannot know that a change is due. Returns when
 * they are to be read again.
 */
function requestLists(
  { listRequests }: ClusterSources,
  { object, session }: ClusterGathered,
  { plan: { refresh = [], steps, wait }, now }: { readonly plan: ClusterPlan; readonly now: number },
): number | undefined {
  const key = object.metadata.uid ?? "";
  if (!session || refresh.length === 0 || steps.length > 0 || !wait) {
    listRequests.forget(key);
    return undefined;
  }
  const lists = [...new Set(refresh)].map((name) => session.watch[name]);
  return listRequests.await({ key, what: wait.for, lists }, now);
}

/** The OpenStackCluster that a change of a Cluster concerns: none or one, for `watchInformer`. */
export function infrastructureOf(cluster: Cluster): ObjectKey[] {
  const reference = cluster.spec.infrastructureRef;
  if (reference?.kind !== "OpenStackCluster") return [];
  return [{ namespace: cluster.metadata.namespace ?? "", name: reference.name }];
}

function keyOf({ object }: ClusterGathered): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}

/** An earlier step of the same plan may have changed the object. */
function latest(sources: ClusterSources, observed: ClusterGathered): OpenStackCluster {
  const object = sources.openStackClusters.get(keyOf(observed));
  return object?.metadata.uid === observed.object.metadata.uid && object ? object : observed.object;
}
