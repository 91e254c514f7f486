import {
  annotations,
  finalizers,
  labels,
  MachineDeployment,
  MachineSet,
  type MachineDeploymentStatus,
} from "@causeway/api";
import { ownerReference, type Plan, type PlannedEvent, isEmptySelector } from "@causeway/kubernetes";
import { finalizerRemoval, lockOf, metadataPatch, missing } from "../objects/metadata.ts";
import { suffixedName, suffixOf } from "../objects/names.ts";
import { pausedPlan } from "../objects/paused.ts";
import { deleteStep, patchStep, type ObjectStep } from "../objects/steps.ts";
import { isAvailableMachine } from "../machine/conditions.ts";
import type { Observed } from "./observed.ts";
import { onDelete, proportional, resolveCount, rollingUpdate, type Replicas, type SetCount } from "./rollout.ts";
import { deploymentStatus } from "./status.ts";
import { dueRollout, inPlaceChanges, isCurrentSet, templateHash } from "../objects/template.ts";

/** Steps create, scale and delete MachineSets. */
export type DeploymentPlan = Plan<ObjectStep, MachineDeploymentStatus>;

/** What to do for a MachineDeployment: one MachineSet for its template, the others on their way to none. */
export function plan(observed: Observed, now: number): DeploymentPlan {
  const { deployment, cluster } = observed;
  const paused = pausedPlan(deployment, cluster, now);
  if (paused) return paused;
  const { fresh, old } = divide(observed, now);
  const steps = decide(observed, { fresh, old, now });
  const due = Date.parse(deployment.spec.rollout?.after ?? "");
  return {
    steps,
    status: deploymentStatus(observed, { fresh, now, limits: limitsOf(deployment) }),
    wait: { for: "changes", ...(due > now ? { until: due } : {}) },
  };
}

interface View {
  readonly fresh: MachineSet | undefined;
  /** Oldest first. */
  readonly old: readonly MachineSet[];
  readonly now: number;
}

/** The MachineSet whose machines are as the template says, and all others. */
export function divide({ deployment, sets }: Observed, now: number): Omit<View, "now"> {
  const living = sets.filter(({ metadata }) => !metadata.deletionTimestamp).toSorted(byAge);
  const fitting = living.filter((set) => isCurrentSet(set, deployment, now));
  const [fresh] = fitting.toSorted((a, b) => (b.spec.replicas ?? 1) - (a.spec.replicas ?? 1) || byAge(a, b));
  return { fresh, old: living.filter((set) => set !== fresh) };
}

function byAge(a: MachineSet, b: MachineSet): number {
  const born = ({ metadata }: MachineSet) => metadata.creationTimestamp ?? "";
  return born(a) < born(b) ? -1 : born(a) > born(b) ? 1 : a.metadata.name < b.metadata.name ? -1 : 1;
}

function decide(observed: Observed, view: View): ObjectStep[] {
  const { deployment, cluster, sets, orphans } = observed;
  if (deployment.metadata.deletionTimestamp) {
    if (sets.length > 0) return sets.flatMap((set) => deleteStep(MachineSet, set));
    return patchStep(MachineDeployment, deployment, finalizerRemoval(deployment, finalizers.machineDeployment));
  }
  if (!cluster || cluster.metadata.deletionTimestamp) return [];
  const own = defaults(observed);
  // All that follows is made from the deployment's own labels and selector.
  if (own.length > 0) return own;
  const adopted = orphans.flatMap((set) =>
    patchStep(MachineSet, set, metadataPatch(set, { owner: ownerReference(deployment, { controller: true }) })),
  );
  if (adopted.length > 0) return adopted;
  if (!view.fresh && !deployment.spec.paused)
    return [{ type: "create", resource: MachineSet, object: newSet(observed, view) }];
  const inPlace = view.fresh ? upkeep(deployment, view.fresh) : [];
  return [...inPlace, ...scaling(observed, view), ...(inPlace.length > 0 ? [] : cleanup(observed, view))];
}

/** Finalizer, owner, and the labels by which a deployment finds its own. */
function defaults({ deployment, cluster }: Observed): ObjectStep[] {
  if (!cluster) return [];
  const identity = { [labels.deploymentName]: deployment.metadata.name };
  const membership = { [labels.clusterName]: deployment.spec.clusterName };
  const metadata = metadataPatch(deployment, {
    finalizer: finalizers.machineDeployment,
    labels: membership,
    owner: ownerReference(cluster),
  });
  const selector = isEmptySelector(deployment.spec.selector) ? { selector: { matchLabels: identity } } : undefined;
  const template = missing(deployment.spec.template.metadata?.labels, {
    ...identity,
    ...membership,
    ...deployment.spec.selector?.matchLabels,
  });
  if (!metadata && !selector && !template) return [];
  return patchStep(MachineDeployment, deployment, {
    metadata: { ...lockOf(deployment), ...(metadata?.["metadata"] as object | undefined) },
    ...(selector || template
      ? { spec: { ...selector, ...(template ? { template: { metadata: { labels: template } } } : {}) } }
      : {}),
  });
}

function newSet(observed: Observed, view: View): MachineSet {
  const { deployment } = observed;
  const { name, namespace, uid = name } = deployment.metadata;
  const hash = templateHash(deployment.spec.template);
  const forced = dueRollout(deployment, view.now) ?? 0;
  const suffix = suffixOf(`${uid}/${hash}/${forced}`);
  const marker = { [labels.machineTemplateHash]: `${hash}-${suffix}` };
  const { template, clusterName, deletion, machineNaming, selector } = deployment.spec;
  const empty: SetCount = { name: "", replicas: 0, available: 0, machines: 0, present: 0 };
  return {
    apiVersion: `${MachineSet.group}/${MachineSet.version}`,
    kind: MachineSet.kind,
    metadata: {
      name: suffixedName(name, suffix),
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...template.metadata?.labels,
        ...marker,
        [labels.clusterName]: clusterName,
        [labels.deploymentName]: name,
      },
      annotations: { ...inherited(deployment), [annotations.revision]: String(nextRevision(observed)) },
      finalizers: [finalizers.machineSet],
      ownerReferences: [ownerReference(deployment, { controller: true })],
    },
    spec: {
      clusterName,
      replicas: targets(observed, { ...view, count: empty }).get("") ?? 0,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...marker } },
      template: {
        ...template,
        metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...marker } },
      },
      ...(deletion ? { deletion } : {}),
      ...(machineNaming ? { machineNaming } : {}),
    },
  };
}

/** Annotations of the deployment that are about it alone. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  annotations.revision,
  "kubectl.kubernetes.io/last-applied-configuration",
  "cluster.x-k8s.io/conversion-data",
]);

/** The annotations that a current MachineSet has of its deployment, such as which preflight checks are skipped. */
function inherited({ metadata }: MachineDeployment): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)));
}

function revisionOf(set: MachineSet): number {
  return Number(set.metadata.annotations?.[annotations.revision] ?? 0) || 0;
}

function nextRevision({ sets }: Observed): number {
  return Math.max(0, ...sets.map(revisionOf)) + 1;
}

/** What of the deployment its current MachineSet takes over in place; its machines follow it. */
function upkeep(deployment: MachineDeployment, set: MachineSet): ObjectStep[] {
  const { deletion, machineNaming } = deployment.spec;
  const spec = {
    ...templateChanges(deployment, set),
    ...(deletion?.order === set.spec.deletion?.order ? {} : { deletion: { order: deletion?.order ?? null } }),
    ...(machineNaming?.template === set.spec.machineNaming?.template
      ? {}
      : { machineNaming: { template: machineNaming?.template ?? null } }),
  };
  const notes = missing(set.metadata.annotations, inherited(deployment));
  if (Object.keys(spec).length === 0 && !notes) return [];
  const metadata = { ...lockOf(set), ...(notes ? { annotations: notes } : {}) };
  return patchStep(MachineSet, set, { metadata, ...(Object.keys(spec).length > 0 ? { spec } : {}) });
}

function templateChanges(deployment: MachineDeployment, set: MachineSet): { template?: object } {
  const { template } = deployment.spec;
  const standing = set.spec.template;
  const added = missing(standing.metadata?.labels, template.metadata?.labels);
  const notes = missing(standing.metadata?.annotations, template.metadata?.annotations);
  const spec = inPlaceChanges(standing.spec, template);
  if (!added && !notes && !spec) return {};
  const metadata = { ...(added ? { labels: added } : {}), ...(notes ? { annotations: notes } : {}) };
  return { template: { ...(added || notes ? { metadata } : {}), ...(spec ? { spec } : {}) } };
}

interface Limits {
  readonly desired: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Percentages resolved; the defaults of a rolling update are 1 and 0. */
export function limitsOf({ spec }: MachineDeployment): Limits {
  const desired = spec.replicas ?? 1;
  const given = spec.rollout?.strategy?.rollingUpdate;
  const maxSurge = resolveCount(given?.maxSurge, desired, "up") ?? 1;
  const maxUnavailable = resolveCount(given?.maxUnavailable, desired, "down") ?? 0;
  // Both 0 would never get anywhere.
  return { desired, maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

function targets(observed: Observed, view: View & { readonly count: SetCount }): Replicas {
  const { deployment } = observed;
  const old = view.old.map((set) => countOf(observed, set));
  const { desired, maxSurge, maxUnavailable } = limitsOf(deployment);
  if (deployment.spec.paused) return proportional(view.fresh ? [...old, view.count] : old, desired);
  if (deployment.spec.rollout?.strategy?.type === "OnDelete") return onDelete({ desired, fresh: view.count, old });
  return rollingUpdate({ desired, maxSurge, maxUnavailable, fresh: view.count, old });
}

function countOf({ machinesOf }: Observed, set: MachineSet): SetCount {
  const machines = machinesOf.get(set.metadata.uid ?? "") ?? [];
  return {
    name: set.metadata.name,
    replicas: set.spec.replicas ?? 1,
    available: machines.filter(isAvailableMachine).length,
    machines: machines.filter(({ metadata }) => !metadata.deletionTimestamp).length,
    present: machines.length,
  };
}

function scaling(observed: Observed, view: View): ObjectStep[] {
  const count = view.fresh
    ? countOf(observed, view.fresh)
    : { name: "", replicas: 0, available: 0, machines: 0, present: 0 };
  const replicas = targets(observed, { ...view, count });
  const onDeleteOnly = observed.deployment.spec.rollout?.strategy?.type === "OnDelete";
  return [...view.old, ...(view.fresh ? [view.fresh] : [])].flatMap((set) => {
    const target = replicas.get(set.metadata.name);
    const marks =
      onDeleteOnly && set !== view.fresh
        ? missing(set.metadata.annotations, { [annotations.disableMachineCreate]: "true" })
        : undefined;
    if (target === undefined && !marks) return [];
    return patchStep(MachineSet, set, {
      metadata: { ...lockOf(set), ...(marks ? { annotations: marks } : {}) },
      ...(target === undefined ? {} : { spec: { replicas: target } }),
    });
  });
}

/** Old sets that hold nothing any more go, once the rollout is through. */
function cleanup(observed: Observed, { fresh, old }: View): ObjectStep[] {
  if (!fresh) return [];
  const complete = countOf(observed, fresh).available >= (observed.deployment.spec.replicas ?? 1);
  const empty = old.filter(
    (set) => set.spec.replicas === 0 && !observed.machinesOf.get(set.metadata.uid ?? "")?.length,
  );
  return complete ? empty.flatMap((set) => deleteStep(MachineSet, set)) : [];
}

/** The events of a step that was performed. */
export function deploymentStepEvents(step: ObjectStep): PlannedEvent[] {
  if (step.type === "create") {
    return [{ type: "Normal", reason: "SuccessfulCreate", message: `Created MachineSet ${step.object.metadata.name}` }];
  }
  if (step.type === "delete") {
    return [{ type: "Normal", reason: "SuccessfulDelete", message: `Deleting MachineSet ${step.key.name}` }];
  }
  const spec = step.body["spec"] as { replicas?: number } | undefined;
  if (step.resource.kind !== MachineSet.kind || spec?.replicas === undefined) return [];
  return [
    { type: "Normal", reason: "ScalingMachineSet", message: `Scaling MachineSet ${step.key.name} to ${spec.replicas}` },
  ];
}
