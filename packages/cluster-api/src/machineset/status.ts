import type { Machine, MachineSetStatus } from "@causeway/api";
import { isAvailableMachine, isReadyMachine, NEWER_TEMPLATE } from "../machine/conditions.ts";
import { getCondition, isTrue, type Condition, type WantedCondition, selectorText } from "@causeway/kubernetes";
import { listing, notPaused, settleConditions, summarise } from "../objects/conditions.ts";
import { isCurrentSet } from "../objects/template.ts";
import type { Observed } from "./observed.ts";

/** The whole status; `blocked` says why no Machine can be created now. */
export function machineSetStatus(
  observed: Observed,
  on: { readonly now: number; readonly blocked: string | undefined },
): MachineSetStatus {
  const { set, machines } = observed;
  const generation = set.metadata.generation;
  const wanted = set.spec.replicas ?? 1;
  const deleting = set.metadata.deletionTimestamp !== undefined;
  const isOld = observed.deployment !== undefined && !isCurrentSet(set, observed.deployment, on.now);
  const old = new Set(isOld ? machines : []);
  const conditions: WantedCondition[] = [
    machinesReady(machines),
    machinesUpToDate(machines, old),
    ...scalingConditions({ wanted: deleting ? 0 : wanted, current: machines.length, blocked: on.blocked }),
    remediating(machines),
    deleting
      ? { type: "Deleting", status: "True", reason: "Deleting", message: `${machines.length} Machines are left` }
      : { type: "Deleting", status: "False", reason: "NotDeleting" },
    notPaused,
  ];
  return {
    conditions: settleConditions(conditions, { previous: set.status?.conditions, generation, now: on.now }),
    selector: selectorText(set.spec.selector),
    ...countMachines(machines, old),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function remediating(machines: readonly Machine[]): WantedCondition {
  const type = "Remediating";
  const failed = machines.filter(
    ({ status }) => getCondition(status?.conditions, "OwnerRemediated")?.status === "False",
  );
  if (failed.length === 0) return { type, status: "False", reason: "NotRemediating" };
  const lines = failed.map((machine) => {
    const message = getCondition(machine.status?.conditions, "OwnerRemediated")?.message;
    return `Machine ${machine.metadata.name}: ${message || "Waiting for remediation"}`;
  });
  return { type, status: "True", reason: "Remediating", message: listing(lines) };
}

/** Counters for the status of sets and deployments; `versions` are the kubelets'. */
export interface MachineCounts {
  replicas: number;
  readyReplicas: number;
  availableReplicas: number;
  upToDateReplicas: number;
  versions?: { version: string; replicas: number }[];
}

/**
 * Machines that are being deleted count as replicas, but not as available. Those in `outdated` are not up to date,
 * whatever their conditions say.
 */
export function countMachines(machines: readonly Machine[], outdated: ReadonlySet<Machine> = new Set()): MachineCounts {
  const versions = new Map<string, number>();
  for (const { status } of machines) {
    const version = status?.nodeInfo?.kubeletVersion;
    if (version) versions.set(version, (versions.get(version) ?? 0) + 1);
  }
  const listed = [...versions].map(([version, replicas]) => ({ version, replicas }));
  listed.sort((a, b) => (a.version < b.version ? -1 : 1));
  return {
    replicas: machines.length,
    readyReplicas: machines.filter(isReadyMachine).length,
    availableReplicas: machines.filter(isAvailableMachine).length,
    upToDateReplicas: machines.filter(
      (machine) => !outdated.has(machine) && isTrue(machine.status?.conditions, "UpToDate"),
    ).length,
    ...(listed.length > 0 ? { versions: listed } : {}),
  };
}

/** The condition MachinesReady; its message names at most three Machines. */
export function machinesReady(machines: readonly Machine[]): WantedCondition {
  if (machines.length === 0) return { type: "MachinesReady", status: "True", reason: "NoReplicas" };
  return summarise(
    "MachinesReady",
    { whenTrue: "Ready", whenFalse: "NotReady", whenUnknown: "ReadyUnknown" },
    machines.map((machine) => input(machine, "Ready")),
  );
}

/** The condition MachinesUpToDate, false with any in `outdated`; its message names at most three Machines. */
export function machinesUpToDate(
  machines: readonly Machine[],
  outdated: ReadonlySet<Machine> = new Set(),
): WantedCondition {
  if (machines.length === 0) return { type: "MachinesUpToDate", status: "True", reason: "NoReplicas" };
  return summarise(
    "MachinesUpToDate",
    { whenTrue: "UpToDate", whenFalse: "NotUpToDate", whenUnknown: "UpToDateUnknown" },
    machines.map((machine) =>
      outdated.has(machine)
        ? { label: `Machine ${machine.metadata.name}`, condition: { status: "False", message: NEWER_TEMPLATE } }
        : input(machine, "UpToDate"),
    ),
  );
}

function input(machine: Machine, type: string) {
  const found: Condition | undefined = machine.status?.conditions?.find((condition) => condition.type === type);
  return {
    label: `Machine ${machine.metadata.name}`,
    condition: found ?? ({ status: "Unknown", message: `Condition ${type} is not yet reported` } as const),
  };
}

/** ScalingUp and ScalingDown, one of which may be true. */
export function scalingConditions(on: {
  readonly wanted: number;
  readonly current: number;
  readonly blocked?: string | undefined;
}): WantedCondition[] {
  const { wanted, current, blocked } = on;
  const from = `from ${current} to ${wanted} replicas`;
  return [
    current < wanted
      ? {
          type: "ScalingUp",
          status: "True",
          reason: "ScalingUp",
          message: `Scaling up ${from}${blocked ? ` is blocked because:\n* ${blocked}` : ""}`,
        }
      : { type: "ScalingUp", status: "False", reason: "NotScalingUp" },
    current > wanted
      ? { type: "ScalingDown", status: "True", reason: "ScalingDown", message: `Scaling down ${from}` }
      : { type: "ScalingDown", status: "False", reason: "NotScalingDown" },
  ];
}
