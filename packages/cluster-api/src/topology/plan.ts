import { annotations, Cluster, labels, MachineDeployment, MachineHealthCheck, MachinePool } from "@causeway/api";
import {
  keyOf,
  type KubeObject,
  type Plan,
  type PlannedEvent,
  type ResourceType,
  type WantedCondition,
} from "@causeway/kubernetes";
import { machineTemplateReferenceOf, type ProviderObject } from "../contract/provider-object.ts";
import { fingerprint } from "../objects/names.ts";
import { lockOf } from "../objects/metadata.ts";
import type { TopologyReport } from "../objects/topology-reports.ts";
import { isUpgrading, topologyCondition } from "./condition.ts";
import type { Desired } from "./desired.ts";
import type { Observed } from "./observed.ts";
import { markedHooks, okToDeleteAnnotation, pendingHooksAnnotation } from "./hooks.ts";
import { idOf } from "./model.ts";
import type { MadeObject } from "./made-objects.ts";
import type { DesiredPool } from "./pools.ts";
import type { TopologyStep } from "./steps.ts";

/** The report is not a status of its own: the Cluster's controller publishes it. */
export type TopologyPlan = Plan<TopologyStep, TopologyReport>;

/** What to do for a Cluster with a topology: its objects as the ClusterClass says, and nothing that it does not. */
export function plan(observed: Observed): TopologyPlan {
  const { cluster, desired, before } = observed;
  if (before) return { steps: [], status: before, wait: waitOf(observed) };
  const condition = pausedCondition(observed) ?? topologyCondition(observed);
  const isIdle =
    !desired ||
    observed.obstacle !== undefined ||
    cluster.metadata.deletionTimestamp !== undefined ||
    isPaused(observed);
  // What has to be called later is recorded before anything of it begins.
  const marks = isPaused(observed) ? [] : hookSteps(observed);
  const steps = marks.length > 0 ? marks : isIdle ? [] : stepsOf(observed, desired);
  const { path } = desired?.upgrades ?? {};
  return {
    steps,
    status: {
      condition,
      ...(path?.controlPlane.length ? { controlPlaneUpgrades: path.controlPlane } : {}),
      ...(path?.workers.length ? { workersUpgrades: path.workers } : {}),
    },
    wait: waitOf(observed),
    events: observed.hooks.failed.map(({ hook, message }) => ({
      type: "Warning",
      reason: "LifecycleHookFailed",
      message: `${hook}: ${message}`,
    })),
  };
}

function waitOf({ hooks: { until } }: Observed): NonNullable<TopologyPlan["wait"]> {
  return { for: "changes", ...(until === undefined ? {} : { until }) };
}

function hookSteps({ cluster, hooks }: Observed): TopologyStep[] {
  const before = cluster.metadata.annotations?.[pendingHooksAnnotation] ?? null;
  const after = markedHooks(cluster, hooks);
  const annotationsOf = {
    ...(after === before ? {} : { [pendingHooksAnnotation]: after }),
    ...(hooks.okToDelete ? { [okToDeleteAnnotation]: "" } : {}),
  };
  if (Object.keys(annotationsOf).length === 0) return [];
  return [
    { type: "set-hooks", key: keyOf(cluster), body: { metadata: { ...lockOf(cluster), annotations: annotationsOf } } },
  ];
}

function isPaused({ cluster }: Observed): boolean {
  return cluster.spec.paused === true || cluster.metadata.annotations?.[annotations.paused] !== undefined;
}

function pausedCondition(observed: Observed): WantedCondition | undefined {
  if (!isPaused(observed)) return undefined;
  const message = observed.cluster.spec.paused
    ? "Cluster spec.paused is set to true"
    : `Cluster has the ${annotations.paused} annotation`;
  return { type: "TopologyReconciled", status: "False", reason: "Paused", message };
}

function stepsOf(observed: Observed, desired: Desired): TopologyStep[] {
  const first = [...variableSteps(observed, desired), ...clusterSteps(observed, desired)];
  // All that follows names objects that the Cluster refers to.
  if (first.length > 0) return first;
  const { controlPlane, infrastructure } = desired;
  const due = [
    ...applied(observed, infrastructure),
    ...(controlPlane.machineTemplate
      ? applied(observed, controlPlane.machineTemplate, { replaces: machineTemplateOf(observed) })
      : []),
    ...applied(observed, controlPlane.object),
    ...(controlPlane.healthCheck ? applied(observed, controlPlane.healthCheck) : []),
    ...desired.workers.flatMap((workers) => workerSteps(observed, workers)),
    ...desired.pools.flatMap((pool) => poolSteps(observed, pool)),
    ...removals(observed, desired),
  ];
  return due.length > 0 ? due : orphans(observed, desired);
}

function variableSteps({ cluster }: Observed, { variables }: Desired): TopologyStep[] {
  const given = cluster.spec.topology?.variables ?? [];
  if (fingerprint(given) === fingerprint(variables)) return [];
  return [
    {
      type: "set-variables",
      key: keyOf(cluster),
      body: { metadata: lockOf(cluster), spec: { topology: { variables } } },
    },
  ];
}

function clusterSteps({ cluster }: Observed, desired: Desired): TopologyStep[] {
  const reference = ({ kind, object }: MadeObject) => ({
    apiGroup: kind.group,
    kind: kind.kind,
    name: object.metadata.name,
  });
  const wanted = {
    infrastructureRef: reference(desired.infrastructure),
    controlPlaneRef: reference(desired.controlPlane.object),
  };
  const own = { [labels.clusterName]: cluster.metadata.name, [labels.topologyOwned]: "" };
  const step = { [annotations.upgradeStep]: isUpgrading(desired.upgrades) ? desired.upgrades.controlPlane : "" };
  const { metadata, spec } = cluster;
  const isSettled =
    fingerprint({ infrastructureRef: spec.infrastructureRef, controlPlaneRef: spec.controlPlaneRef }) ===
      fingerprint(wanted) &&
    Object.entries(own).every(([name, value]) => metadata.labels?.[name] === value) &&
    (metadata.annotations?.[annotations.upgradeStep] ?? "") === step[annotations.upgradeStep];
  if (isSettled) return [];
  const { name, namespace, uid } = metadata;
  const object = {
    apiVersion: `${Cluster.group}/${Cluster.version}`,
    kind: Cluster.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid ? { uid } : {}),
      labels: own,
      annotations: step,
    },
    spec: wanted,
  };
  return [{ type: "apply-cluster", object }];
}

function machineTemplateOf({ current }: Observed): string | undefined {
  return current.controlPlane && machineTemplateReferenceOf(current.controlPlane)?.name;
}

function workerSteps(observed: Observed, workers: Desired["workers"][number]): TopologyStep[] {
  const { deployment, bootstrap, infrastructure, healthCheck, decision } = workers;
  const same = observed.current.deployments.find(({ metadata }) => metadata.name === deployment.object.metadata.name);
  // One of the same name is on its way out; it is created when that one is gone.
  if (decision.waitsForCreation || same?.metadata.deletionTimestamp) return [];
  const standing = same?.spec.template.spec;
  return [
    ...applied(observed, bootstrap, { replaces: standing?.bootstrap.configRef?.name }),
    ...applied(observed, infrastructure, { replaces: standing?.infrastructureRef.name }),
    ...applied(observed, deployment),
    ...(healthCheck ? applied(observed, healthCheck) : []),
  ];
}

function poolSteps(observed: Observed, { pool, bootstrap, infrastructure, decision }: DesiredPool): TopologyStep[] {
  const same = observed.current.pools.find(({ metadata }) => metadata.name === pool.object.metadata.name);
  if (decision.waitsForCreation || same?.metadata.deletionTimestamp) return [];
  return [bootstrap, infrastructure, pool].flatMap((made) => applied(observed, made));
}

function applied(
  { differences, current }: Observed,
  made: MadeObject,
  { replaces }: { readonly replaces?: string | undefined } = {},
): TopologyStep[] {
  const difference = differences.get(idOf(made.kind, made.object));
  const { name } = made.object.metadata;
  if (!difference) {
    const rotates =
      replaces !== undefined &&
      replaces !== name &&
      current.templates.some(({ object }) => object.metadata.name === replaces);
    return [{ type: "apply", why: rotates ? "rotate" : "create", made, ...(rotates ? { replaces } : {}) }];
  }
  return difference.spec || difference.metadata ? [{ type: "apply", why: "update", made }] : [];
}

/** MachineDeployments, MachinePools and MachineHealthChecks that the topology no longer has. */
function removals({ current }: Observed, desired: Desired): TopologyStep[] {
  const wanted = new Set(desired.workers.map(({ topologyName }) => topologyName));
  const deployments = current.deployments.filter(
    ({ metadata }) =>
      !metadata.deletionTimestamp && !wanted.has(metadata.labels?.[labels.topologyDeploymentName] ?? ""),
  );
  const wantedPools = new Set(desired.pools.map(({ topologyName }) => topologyName));
  const pools = current.pools.filter(
    ({ metadata }) => !metadata.deletionTimestamp && !wantedPools.has(metadata.labels?.[labels.topologyPoolName] ?? ""),
  );
  const checks = new Set(
    [desired.controlPlane.healthCheck, ...desired.workers.map(({ healthCheck }) => healthCheck)].flatMap((made) =>
      made ? [made.object.metadata.name] : [],
    ),
  );
  const gone = current.healthChecks.filter(({ metadata }) => !metadata.deletionTimestamp && !checks.has(metadata.name));
  return [
    ...deployments.flatMap((one) => removal(MachineDeployment, one)),
    ...pools.flatMap((one) => removal(MachinePool, one)),
    ...gone.flatMap((one) => removal(MachineHealthCheck, one)),
  ];
}

function removal(resource: ResourceType<KubeObject>, object: KubeObject): TopologyStep[] {
  return [{ type: "delete", resource, key: keyOf(object), uid: object.metadata.uid ?? "" }];
}

/**
 * Templates and objects of pools that were made for the topology, and that nothing refers to any more: a rotation that
 * was interrupted leaves one, too.
 */
function orphans({ current, cluster }: Observed, desired: Desired): TopologyStep[] {
  const used = new Set<string>();
  const use = (reference: { readonly kind: string; readonly apiGroup: string; readonly name: string } | undefined) => {
    if (reference) used.add(`${reference.kind}.${reference.apiGroup}/${reference.name}`);
  };
  const useMade = ({ kind, object }: MadeObject) =>
    use({ kind: kind.kind, apiGroup: kind.group, name: object.metadata.name });
  if (current.controlPlane) use(machineTemplateReferenceOf(current.controlPlane));
  if (desired.controlPlane.machineTemplate) useMade(desired.controlPlane.machineTemplate);
  for (const { bootstrap, infrastructure } of desired.workers) [bootstrap, infrastructure].forEach(useMade);
  for (const { bootstrap, infrastructure } of desired.pools) [bootstrap, infrastructure].forEach(useMade);
  for (const { spec } of [...current.deployments, ...current.sets, ...current.pools]) {
    use(spec.template.spec.bootstrap.configRef);
    use(spec.template.spec.infrastructureRef);
  }
  return [...current.templates, ...current.poolObjects]
    .filter(
      ({ kind, object }) => isOurs(object, cluster) && !used.has(`${kind.kind}.${kind.group}/${object.metadata.name}`),
    )
    .flatMap(({ kind, object }) => removal(kind, object));
}

function isOurs({ metadata }: ProviderObject, cluster: Cluster): boolean {
  return (
    !metadata.deletionTimestamp && (metadata.ownerReferences ?? []).some(({ uid }) => uid === cluster.metadata.uid)
  );
}

/** The events of a step that was performed, as upstream's controller words them. */
export function topologyStepEvents(step: TopologyStep): PlannedEvent[] {
  const normal = (reason: string, message: string): PlannedEvent[] => [{ type: "Normal", reason, message }];
  switch (step.type) {
    case "apply": {
      const { kind, object } = step.made;
      const named = `${kind.kind} "${object.metadata.namespace ?? ""}/${object.metadata.name}"`;
      if (step.why === "update") return normal("TopologyUpdate", `Updated ${named}`);
      const rotated = step.replaces === undefined ? "" : ` as a replacement for "${step.replaces}" (template rotation)`;
      return normal("TopologyCreate", `Created ${named}${rotated}`);
    }
    case "delete":
      return normal("TopologyDelete", `Deleted ${step.resource.kind} "${step.key.namespace}/${step.key.name}"`);
    default:
      return [];
  }
}
