import type { Machine } from "@causeway/api";
import {
  conditionOf,
  isControlPlaneInitialized,
  isProvisioned,
  type ProviderObject,
} from "../contract/provider-object.ts";
import { getCondition, isTrue, type Condition, type KubeObject, type WantedCondition } from "@causeway/kubernetes";
import { listing, notPaused, summarise, type SummaryInput } from "../objects/conditions.ts";
import { labels } from "@causeway/api";
import { whyAbsent } from "../contract/kind-table.ts";
import { CLUSTER_CREATING, CLUSTER_UPGRADING, WORKERS_DEFERRED } from "../objects/topology-reports.ts";
import type { Observed } from "./observed.ts";

/** Every condition of a Cluster, Available first. */
export function clusterConditions(
  observed: Observed,
  deleting: WantedCondition | undefined,
  now: number,
): WantedCondition[] {
  const infrastructure = infrastructureReady(observed);
  const controlPlane = controlPlaneAvailable(observed);
  const workers = workersAvailable(observed);
  const probe = remoteConnection(observed, now);
  const topology = topologyReconciled(observed);
  const inputs: SummaryInput[] = [
    ...(deleting ? [{ label: "Deleting", condition: { status: "False", message: deleting.reason } } as const] : []),
    { label: "RemoteConnectionProbe", condition: probe },
    { label: "InfrastructureReady", condition: infrastructure },
    { label: "ControlPlaneAvailable", condition: controlPlane },
    { label: "WorkersAvailable", condition: workers },
    ...topology.map((condition) => ({
      label: "TopologyReconciled",
      condition: isProgress(condition) ? ({ status: "True" } as const) : condition,
    })),
    ...gates(observed),
  ];
  const { controlPlaneMachines, workerMachines } = machinesByRole(observed.machines);
  return [
    summarise(
      "Available",
      { whenTrue: "Available", whenFalse: "NotAvailable", whenUnknown: "AvailableUnknown" },
      inputs,
    ),
    ...topology,
    infrastructure,
    controlPlaneInitialized(observed),
    controlPlane,
    workers,
    machines("ControlPlaneMachinesReady", "Ready", controlPlaneMachines),
    machines("WorkerMachinesReady", "Ready", workerMachines),
    machines("ControlPlaneMachinesUpToDate", "UpToDate", controlPlaneMachines),
    machines("WorkerMachinesUpToDate", "UpToDate", workerMachines),
    probe,
    ...["RollingOut", "ScalingUp", "ScalingDown", "Remediating"].map((type) => anyOf(type, observed)),
    deleting ?? { type: "Deleting", status: "False", reason: "NotDeleting" },
    notPaused,
  ];
}

/** What the controller of topologies found; after a restart what was published last, until it has reconciled. */
function topologyReconciled({ cluster, topology }: Observed): WantedCondition[] {
  if (!cluster.spec.topology) return [];
  const type = "TopologyReconciled";
  const before = getCondition(cluster.status?.conditions, type);
  if (topology) return [topology.condition];
  return [
    before
      ? { ...before, type }
      : { type, status: "Unknown", reason: "InternalError", message: "Please check controller logs for errors" },
  ];
}

/** A topology that is being carried out does not make a Cluster unavailable. */
function isProgress({ reason }: WantedCondition): boolean {
  return reason === CLUSTER_UPGRADING || reason === WORKERS_DEFERRED || reason === CLUSTER_CREATING;
}

/** By the label `cluster.x-k8s.io/control-plane`, whatever its value. */
export function machinesByRole(all: readonly Machine[]): {
  controlPlaneMachines: Machine[];
  workerMachines: Machine[];
} {
  const isControlPlane = ({ metadata }: Machine) => metadata.labels?.[labels.controlPlane] !== undefined;
  return {
    controlPlaneMachines: all.filter(isControlPlane),
    workerMachines: all.filter((machine) => !isControlPlane(machine)),
  };
}

function infrastructureReady({ cluster, infrastructure }: Observed): WantedCondition {
  const type = "InfrastructureReady";
  if (!infrastructure) {
    return {
      type,
      status: "False",
      reason: "InfrastructureDoesNotExist",
      message: "spec.infrastructureRef is not set",
    };
  }
  const { object, reference } = infrastructure;
  if (!object) {
    const wasThere = cluster.status?.initialization?.infrastructureProvisioned === true;
    return wasThere
      ? {
          type,
          status: "False",
          reason: "InfrastructureDeleted",
          message: `${reference.kind} ${reference.name} has been deleted`,
        }
      : { type, status: "False", reason: "InfrastructureDoesNotExist", message: whyAbsent(infrastructure) };
  }
  return mirrored(type, conditionOf(object, "Ready"), isProvisioned(object) ? "True" : "False");
}

function controlPlaneAvailable({ cluster, controlPlane }: Observed): WantedCondition {
  const type = "ControlPlaneAvailable";
  if (!controlPlane) {
    return { type, status: "False", reason: "ControlPlaneDoesNotExist", message: "spec.controlPlaneRef is not set" };
  }
  const { object, reference } = controlPlane;
  if (!object) {
    const wasThere = cluster.status?.initialization?.controlPlaneInitialized === true;
    return wasThere
      ? {
          type,
          status: "False",
          reason: "ControlPlaneDeleted",
          message: `${reference.kind} ${reference.name} has been deleted`,
        }
      : { type, status: "False", reason: "ControlPlaneDoesNotExist", message: whyAbsent(controlPlane) };
  }
  return mirrored(type, conditionOf(object, "Available"), isControlPlaneInitialized(object) ? "True" : "False");
}

function mirrored(type: string, condition: Condition | undefined, fallback: "True" | "False"): WantedCondition {
  if (condition) {
    const { status, reason, message = "" } = condition;
    return { type, status, reason: reason || "Mirrored", message };
  }
  return { type, status: fallback, reason: fallback === "True" ? "Ready" : "NotReady" };
}

/**
 * The provider says so; without a provider, a Machine of the control plane has its Node. What was true once remains
 * true.
 */
export function hasControlPlane({ cluster, controlPlane, machines }: Observed): boolean {
  if (cluster.status?.initialization?.controlPlaneInitialized === true) return true;
  if (controlPlane) return controlPlane.object !== undefined && isControlPlaneInitialized(controlPlane.object);
  return machinesByRole(machines).controlPlaneMachines.some(({ status }) => status?.nodeRef !== undefined);
}

function controlPlaneInitialized(observed: Observed): WantedCondition {
  const type = "ControlPlaneInitialized";
  if (hasControlPlane(observed)) return { type, status: "True", reason: "Initialized" };
  const message = "The control plane has not responded yet";
  return { type, status: "False", reason: "NotInitialized", message };
}

/** How long a cluster may be silent before it counts as lost: connections break and are made again. */
export const silenceAllowed = 50_000;

function remoteConnection({ cluster, silentSince }: Observed, now: number): WantedCondition {
  const type = "RemoteConnectionProbe";
  const was = isTrue(cluster.status?.conditions, type);
  if (silentSince === undefined || (was && now - silentSince < silenceAllowed)) {
    return { type, status: "True", reason: "ProbeSucceeded" };
  }
  const initialized = cluster.status?.initialization?.controlPlaneInitialized === true;
  const message = initialized ? "The workload cluster cannot be reached" : "The control plane is not initialized yet";
  return { type, status: "False", reason: "ProbeFailed", message };
}

function workersAvailable({ deployments, pools }: Observed): WantedCondition {
  if (deployments.length + pools.length === 0) return { type: "WorkersAvailable", status: "True", reason: "NoWorkers" };
  return summarise(
    "WorkersAvailable",
    { whenTrue: "Available", whenFalse: "NotAvailable", whenUnknown: "AvailableUnknown" },
    [...deployments, ...pools].map((workers) => ({
      label: `${workers.kind} ${workers.metadata.name}`,
      condition: getCondition(workers.status?.conditions, "Available") ?? {
        status: "Unknown",
        message: "Condition Available is not yet reported",
      },
    })),
  );
}

function machines(type: string, source: string, among: readonly Machine[]): WantedCondition {
  if (among.length === 0) return { type, status: "True", reason: "NoReplicas" };
  return summarise(
    type,
    { whenTrue: source, whenFalse: `Not${source}`, whenUnknown: `${source}Unknown` },
    among.map((machine) => ({
      label: `Machine ${machine.metadata.name}`,
      condition: getCondition(machine.status?.conditions, source) ?? {
        status: "Unknown",
        message: `Condition ${source} is not yet reported`,
      },
    })),
  );
}

/** True as soon as one of the control plane and the deployments says so. */
function anyOf(type: string, { controlPlane, deployments, pools }: Observed): WantedCondition {
  const sources: ProviderObject[] = [...(controlPlane?.object ? [controlPlane.object] : []), ...deployments, ...pools];
  const busy = sources.filter((object) => conditionOf(object, type)?.status === "True");
  if (busy.length === 0) return { type, status: "False", reason: `Not${type}` };
  const name = (object: KubeObject) => `${object.kind} ${object.metadata.name}`;
  const lines = busy.map((object) => `${name(object)}: ${conditionOf(object, type)?.message || type}`);
  return { type, status: "True", reason: type, message: listing(lines) };
}

function gates({ cluster }: Observed): SummaryInput[] {
  return (cluster.spec.availabilityGates ?? []).map(({ conditionType, polarity }) => {
    const conditions = cluster.status?.conditions;
    const good =
      polarity === "Negative"
        ? getCondition(conditions, conditionType)?.status === "False"
        : isTrue(conditions, conditionType);
    return { label: conditionType, condition: { status: good ? "True" : "False" } };
  });
}
