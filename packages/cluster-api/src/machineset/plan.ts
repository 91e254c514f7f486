import {
  annotations,
  type Cluster,
  finalizers,
  labels,
  Machine,
  MachineSet,
  type MachineSetStatus,
} from "@causeway/api";
import { ownerReference, type Plan, type PlannedEvent } from "@causeway/kubernetes";
import { finalizerRemoval, lockOf, metadataPatch, missing, type WantedMetadata } from "../objects/metadata.ts";
import { pausedPlan } from "../objects/paused.ts";
import { deleteStep, patchStep } from "../objects/steps.ts";
import { inPlaceChanges } from "../objects/template.ts";
import { cloneOf, machineLabels, namesGiven, newMachine, nextNames, recordedNames } from "./clone.ts";
import { whyAbsent } from "../contract/kind-table.ts";
import { chooseForDeletion } from "./deletion-order.ts";
import type { Observed, ObservedTemplate } from "./observed.ts";
import { recovery, remediation } from "./remediation.ts";
import { machineSetStatus } from "./status.ts";
import type { MachineSetStep } from "./steps.ts";
import { preflight } from "./preflight.ts";

/** Steps create Machines and the objects that they refer to, and delete Machines. */
export type MachineSetPlan = Plan<MachineSetStep, MachineSetStatus>;

/** Ms after which a control plane that keeps Machines from being made is read again, as upstream. */
const PREFLIGHT_RECHECK = 15_000;

/** What to do for a MachineSet: as many Machines as it requests, each with its provider objects. */
export function plan(observed: Observed, now: number): MachineSetPlan {
  const { set } = observed;
  const paused = pausedPlan(set, observed.cluster, now);
  if (paused) return paused;
  const blocked = blockedBy(observed);
  const steps = set.metadata.deletionTimestamp ? removal(observed) : living(observed, { now, blocked });
  return {
    steps,
    status: machineSetStatus(observed, { now, blocked }),
    wait: { for: blocked ?? "changes", ...(waitsForControlPlane(observed) ? { until: now + PREFLIGHT_RECHECK } : {}) },
  };
}

/** Whether Machines are missing that are made once the control plane is ready for them. */
function waitsForControlPlane(observed: Observed): boolean {
  const { set, machines } = observed;
  if (set.metadata.deletionTimestamp !== undefined || machines.length >= (set.spec.replicas ?? 1)) return false;
  return preflight(observed).length > 0;
}

/** Why no Machine may be made now. */
function blockedBy(observed: Observed): string | undefined {
  const { set, cluster, infrastructure, bootstrap } = observed;
  if (!cluster) return `Cluster ${set.spec.clusterName} does not exist`;
  if (cluster.metadata.deletionTimestamp) return `Cluster ${set.spec.clusterName} is being deleted`;
  for (const template of [infrastructure, bootstrap]) {
    if (template && !template.object) return whyAbsent(template);
  }
  if (set.metadata.annotations?.[annotations.disableMachineCreate] !== undefined) {
    return "Machines of this MachineSet are not replaced any more";
  }
  const failed = preflight(observed);
  return failed.length > 0 ? failed.join("\n* ") : undefined;
}

function living(observed: Observed, on: { now: number; blocked: string | undefined }): MachineSetStep[] {
  const scale = scaling(observed, on);
  const isLeaving =
    scale.some(({ type }) => type === "delete") ||
    observed.machines.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  return [...upkeep(observed, isLeaving), ...scale];
}

function removal({ set, machines }: Observed): MachineSetStep[] {
  if (machines.length > 0) return machines.flatMap((machine) => deleteStep(Machine, machine));
  return patchStep(MachineSet, set, finalizerRemoval(set, finalizers.machineSet));
}

/** The set's own metadata, and what its Machines take over in place. */
function upkeep(observed: Observed, isLeaving: boolean): MachineSetStep[] {
  const { set, cluster, deployment, machines, orphans, infrastructure, bootstrap } = observed;
  if (!cluster) return [];
  const toCluster = { owner: ownerReference(cluster) };
  const own = metadataPatch(set, {
    finalizer: finalizers.machineSet,
    labels: { [labels.clusterName]: set.spec.clusterName },
    ...(isLeaving ? givenNames(observed) : {}),
    ...(deployment ? {} : toCluster),
  });
  const templates = [infrastructure, ...(bootstrap ? [bootstrap] : [])].flatMap(({ object, kind }) =>
    object && kind && !object.metadata.deletionTimestamp
      ? patchStep(kind, object, metadataPatch(object, { ...toCluster, labels: clusterLabel(cluster) }))
      : [],
  );
  return [
    ...patchStep(MachineSet, set, own),
    ...templates,
    ...orphans.flatMap((machine) => adoption(set, machine)),
    ...machines.filter(({ metadata }) => !metadata.deletionTimestamp).flatMap((machine) => inPlace(set, machine)),
  ];
}

/**
 * Recorded before a Machine is deleted, since the set may be paused from then on until it is gone. Another one by its
 * name would find its server, its Node and its Node's pods, some of which may still be on their way out.
 */
function givenNames({ set, taken }: Observed): Pick<WantedMetadata, "annotations"> {
  const given = namesGiven(set, taken);
  return given > recordedNames(set) ? { annotations: { [annotations.machineNamesGiven]: String(given) } } : {};
}

function clusterLabel(cluster: Cluster): Record<string, string> {
  return { [labels.clusterName]: cluster.metadata.name };
}

function adoption(set: MachineSet, machine: Machine): MachineSetStep[] {
  return patchStep(Machine, machine, metadataPatch(machine, { owner: ownerReference(set, { controller: true }) }));
}

function inPlace(set: MachineSet, machine: Machine): MachineSetStep[] {
  const added = missing(machine.metadata.labels, machineLabels(set));
  const notes = missing(machine.metadata.annotations, set.spec.template.metadata?.annotations);
  const spec = inPlaceChanges(machine.spec, set.spec.template);
  if (!added && !notes && !spec) return [];
  return patchStep(Machine, machine, {
    metadata: { ...lockOf(machine), ...(added ? { labels: added } : {}), ...(notes ? { annotations: notes } : {}) },
    ...(spec ? { spec } : {}),
  });
}

function scaling(observed: Observed, on: { now: number; blocked: string | undefined }): MachineSetStep[] {
  const { set, machines, taken } = observed;
  const wanted = set.spec.replicas ?? 1;
  const repairs = [...recovery(observed), ...remediation(observed, on)];
  const living = machines.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (living.length > wanted) {
    const order = set.spec.deletion?.order ?? "Random";
    const chosen = chooseForDeletion(living, living.length - wanted, { order, now: on.now });
    return chosen.flatMap((machine) => deleteStep(Machine, machine));
  }
  // What is deleted now is replaced once it is known to be leaving.
  if (on.blocked || repairs.some((step) => step.type === "delete")) return repairs;
  if (living.length < wanted) {
    const names = nextNames(set, taken, wanted - living.length);
    return [...repairs, { type: "create-machines", machines: names.map((name) => newMachine(set, name)) }];
  }
  return [...repairs, ...clones(observed, observed.bootstrap), ...clones(observed, observed.infrastructure)];
}

/** The provider objects that Machines lack. A host that has been there and is gone is not made again. */
function clones({ machines }: Observed, from: ObservedTemplate | undefined): MachineSetStep[] {
  const template = from?.object;
  const kind = from?.cloneKind;
  if (!template || !kind) return [];
  const lacking = machines.filter(
    ({ metadata, status }) =>
      !metadata.deletionTimestamp &&
      !from.clones.has(metadata.name) &&
      status?.initialization?.infrastructureProvisioned !== true,
  );
  if (lacking.length === 0) return [];
  return [{ type: "create-clones", kind, objects: lacking.map((machine) => cloneOf(template, kind, machine)) }];
}

/** The events of a step that was performed. */
export function machineSetStepEvents(step: MachineSetStep): PlannedEvent[] {
  if (step.type === "create-machines") {
    const names = step.machines.map(({ metadata }) => metadata.name).join(", ");
    return [{ type: "Normal", reason: "SuccessfulCreate", message: `Created machines ${names}` }];
  }
  if (step.type !== "delete") return [];
  return [{ type: "Normal", reason: "SuccessfulDelete", message: `Deleting machine ${step.key.name}` }];
}
