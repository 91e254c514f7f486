import { finalizers, labels, type Cluster, type ClusterClass, type Kind } from "@causeway/api";
import type { KubeObject, ObjectKey } from "@causeway/kubernetes";
import type { ProviderObject } from "../contract/provider-object.ts";
import { by, indexOfCluster, lookUp, poolKinds, templateKinds, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import { blueprintOf } from "./blueprint.ts";
import type { RotationBrake } from "./brake.ts";
import { compareTopology } from "./comparison.ts";
import { incompatibilities } from "./compatibility.ts";
import { askForUpgrade, askHooks } from "./ask-hooks.ts";
import { upgradesOf } from "./desired.ts";
import { desiredWithExtensions, externalAgain } from "./external.ts";
import type { Differences } from "./differences.ts";
import type { Observed } from "./observed.ts";
import { isBeingCreated, noHooks, okToDeleteAnnotation, type HookState } from "./hooks.ts";
import type { Blueprint, CurrentState, Difference } from "./model.ts";
import type { MadeObject } from "./made-objects.ts";
import { TopologyProblem } from "./problem.ts";
import type { SkippedPatches } from "./skipped-patches.ts";

/** State that outlives a reconcile. */
export interface TopologyMemory {
  readonly differences: Differences;
  readonly brake: RotationBrake;
  readonly skipped: SkippedPatches;
}

/** Reads caches, computes what the topology wants, and has the API server say how what there is differs. */
export async function gather(
  context: Context,
  { differences, brake, skipped }: TopologyMemory,
  { key, signal }: { readonly key: ObjectKey; readonly signal: AbortSignal },
): Promise<Observed | undefined> {
  const cluster = context.clusters.get(key);
  if (!cluster?.spec.topology || isLeaving(cluster, finalizers.cluster)) return undefined;
  const current = currentState(context, cluster);
  const base = { cluster, kinds: context.kinds, current, differences: new Map<string, Difference>(), hooks: noHooks };
  if (cluster.spec.paused) return base;
  if (cluster.metadata.deletionTimestamp) return { ...base, hooks: await deletionHooks(context, cluster, signal) };
  const clusterClass = classOf(context, cluster);
  if ("reason" in clusterClass) return { ...base, obstacle: clusterClass };
  try {
    const blueprint = readBlueprint(context, clusterClass);
    const created = await creationHooks(context, cluster, signal);
    if (created.blocking.length + created.failed.length > 0)
      return { ...base, hooks: created, obstacle: notCreated(created) };
    const upgrades = upgradesOf({ cluster, blueprint, current });
    const asked = await askForUpgrade(context.hooks, { cluster, current, upgrades }, signal);
    const isExternal = clusterClass.spec.patches?.some(({ external }) => external !== undefined);
    const until = isExternal ? Math.min(asked.state.until ?? Infinity, context.clock.now() + externalAgain) : undefined;
    const hooks = {
      ...asked.state,
      add: [...created.add, ...asked.state.add],
      ...(until === undefined ? {} : { until }),
    };
    const input = { cluster, blueprint, current, kinds: context.kinds, hold: asked.hold };
    const desired = await desiredWithExtensions({ calls: context.named, skipped, clock: context.clock }, input, signal);
    const problems = incompatibilities(cluster, desired, current);
    if (problems.length > 0) throw new TopologyProblem(problems.join("; "));
    const differenceOf = async (made: MadeObject) => {
      const found = context.informers.for(made.kind).get({ ...key, name: made.object.metadata.name });
      return found && (await differences.of(made, found, signal));
    };
    const compared = await compareTopology(cluster, desired, differenceOf);
    const endless = brake.check(cluster, blueprint, { before: desired, after: compared.desired });
    if (endless !== undefined) throw new TopologyProblem(endless);
    return { ...base, hooks, ...compared };
  } catch (error) {
    if (!(error instanceof TopologyProblem)) throw error;
    const hooks = error.again === undefined ? noHooks : { ...noHooks, until: context.clock.now() + error.again };
    const before = error.isWait ? context.topologies.of(key) : undefined;
    if (before) return { ...base, hooks, before };
    return { ...base, hooks, obstacle: { reason: "ReconcileFailed", message: error.message } };
  }
}

/** Before the first object is made; a Cluster that refers to objects exists. */
async function creationHooks({ hooks }: Context, cluster: Cluster, signal: AbortSignal): Promise<HookState> {
  if (!isBeingCreated(cluster)) return noHooks;
  const due = [{ hook: "BeforeClusterCreate", more: {} }] as const;
  return (await askHooks(hooks, { cluster, due }, signal)).state;
}

async function deletionHooks({ hooks }: Context, cluster: Cluster, signal: AbortSignal): Promise<HookState> {
  const isFree = cluster.metadata.annotations?.[okToDeleteAnnotation] !== undefined;
  if (isFree || !hooks.concerns("BeforeClusterDelete")) return noHooks;
  const due = [{ hook: "BeforeClusterDelete", more: {} }] as const;
  return (await askHooks(hooks, { cluster, due }, signal)).state;
}

function notCreated({ blocking, failed }: HookState): NonNullable<Observed["obstacle"]> {
  const lines = [...blocking, ...failed].map(({ hook, message }) => `  * ${hook}: ${message}`);
  const message = ["Cluster is waiting for the following hooks:", ...lines].join("\n");
  return { reason: failed.length > 0 ? "ReconcileFailed" : "ClusterCreating", message };
}

function classOf({ classes }: Context, cluster: Cluster): ClusterClass | NonNullable<Observed["obstacle"]> {
  const { name, namespace = cluster.metadata.namespace ?? "" } = cluster.spec.topology?.classRef ?? { name: "" };
  const found = classes.get({ namespace, name });
  if (!found) return { reason: "ReconcileFailed", message: `ClusterClass ${namespace}/${name} does not exist` };
  const isReconciled = found.status?.observedGeneration === found.metadata.generation;
  const problem = found.status?.conditions?.find(({ type, status }) => type === "VariablesReady" && status === "False");
  if (isReconciled && problem)
    return { reason: "ReconcileFailed", message: `ClusterClass ${namespace}/${name}: ${problem.message ?? ""}` };
  if (isReconciled) return found;
  const message = `ClusterClass not reconciled. If this condition persists please check ClusterClass status: status.observedGeneration of ClusterClass ${namespace}/${name} must be its generation`;
  return { reason: "ClusterClassNotReconciled", message };
}

/** The ClusterClass with its templates, from the caches. @throws TopologyProblem */
export function readBlueprint(context: Context, clusterClass: ClusterClass): Blueprint {
  const namespace = clusterClass.metadata.namespace ?? "";
  return blueprintOf(clusterClass, ({ apiVersion, kind, name }) =>
    lookUp(context, namespace, { apiGroup: apiVersion.split("/")[0] ?? "", kind, name }),
  );
}

function currentState(context: Context, cluster: Cluster): CurrentState {
  const namespace = cluster.metadata.namespace ?? "";
  const index = indexOfCluster({ namespace, name: cluster.metadata.name });
  const { infrastructureRef, controlPlaneRef } = cluster.spec;
  const now = context.clock.now();
  const owned = <T extends KubeObject>(objects: readonly T[]) =>
    objects.filter(({ metadata }) => metadata.labels?.[labels.topologyOwned] !== undefined);
  return {
    infrastructure: infrastructureRef && lookUp(context, namespace, infrastructureRef).object,
    controlPlane: controlPlaneRef && lookUp(context, namespace, controlPlaneRef).object,
    deployments: owned(context.deployments.byIndex(by.cluster, index)).map((one) =>
      context.pendingDeletions.view(one, now),
    ),
    pools: owned(context.pools.byIndex(by.cluster, index)).map((one) => context.pendingDeletions.view(one, now)),
    poolObjects: madeObjects(context, cluster, poolKinds(context)),
    sets: context.sets.byIndex(by.cluster, index),
    machines: owned(context.machines.byIndex(by.cluster, index)),
    healthChecks: owned(context.healthChecks.byIndex(by.cluster, index)).map((one) =>
      context.pendingDeletions.view(one, now),
    ),
    templates: madeObjects(context, cluster, templateKinds(context)),
  };
}

/** Objects of some kinds with the labels of this Cluster's topology. */
function madeObjects(
  context: Context,
  cluster: Cluster,
  kinds: readonly Kind<KubeObject>[],
): CurrentState["templates"] {
  const now = context.clock.now();
  const index = indexOfCluster({ namespace: cluster.metadata.namespace ?? "", name: cluster.metadata.name });
  return kinds.flatMap((kind) =>
    context.informers
      .for(kind)
      .byIndex(by.topology, index)
      .map((object) => ({ kind, object: context.pendingDeletions.view(object as ProviderObject, now) })),
  );
}
