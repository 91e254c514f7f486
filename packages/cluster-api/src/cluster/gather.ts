import { finalizers, type Cluster } from "@causeway/api";
import type { ObjectKey } from "@causeway/kubernetes";
import { by, indexOfCluster, lookUp, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import { okToDeleteAnnotation } from "../topology/hooks.ts";
import type { Observed } from "./observed.ts";

/** Reads caches only. */
export function gather(context: Context, key: ObjectKey): Observed | undefined {
  const { clusters, deployments, pools, sets, machines, pendingDeletions, clock, remoteClusters } = context;
  const cluster = clusters.get(key);
  if (!cluster || isLeaving(cluster, finalizers.cluster)) return undefined;
  const { infrastructureRef, controlPlaneRef } = cluster.spec;
  const index = indexOfCluster(key);
  const now = clock.now();
  const topology = cluster.spec.topology && context.topologies.of(key);
  return {
    cluster,
    infrastructure: infrastructureRef && lookUp(context, key.namespace, infrastructureRef),
    controlPlane: controlPlaneRef && lookUp(context, key.namespace, controlPlaneRef),
    deployments: deployments.byIndex(by.cluster, index).map((object) => pendingDeletions.view(object, now)),
    pools: pools.byIndex(by.cluster, index).map((object) => pendingDeletions.view(object, now)),
    sets: sets.byIndex(by.cluster, index).map((object) => pendingDeletions.view(object, now)),
    machines: machines.byIndex(by.cluster, index).map((object) => pendingDeletions.view(object, now)),
    ...(topology ? { topology } : {}),
    ...(isHeldByHook(context, cluster) ? { isHeldByHook: true } : {}),
    silentSince: context.unreachable.since(index, { answers: remoteClusters.get(key) !== undefined, now }),
  };
}

function isHeldByHook({ hooks }: Context, { metadata, spec }: Cluster): boolean {
  if (!spec.topology || metadata.deletionTimestamp === undefined) return false;
  return metadata.annotations?.[okToDeleteAnnotation] === undefined && hooks.concerns("BeforeClusterDelete");
}
