import { nodeMetadataApplied, nodeMetadataOf, type Machine } from "@causeway/api";
import { conditionOf, dataSecretNameOf, isProvisioned, type ProviderObject } from "../contract/provider-object.ts";
import { getCondition, isTrue, type Condition, type Node, type WantedCondition } from "@causeway/kubernetes";
import { notPaused, summarise, type SummaryInput } from "../objects/conditions.ts";
import type { Deletion } from "./deletion.ts";
import { deletingCondition } from "./deletion.ts";
import { whyAbsent, type Referred } from "../contract/kind-table.ts";
import { nodePatch } from "./node.ts";
import type { Observed } from "./observed.ts";
import { isCurrentSet } from "../objects/template.ts";
import { isStoredAlike } from "../objects/versions.ts";

/** How long what was last seen of a Node is believed once the workload cluster cannot be reached. */
const connectionGrace = 5 * 60_000;

/** The Node found for a Machine, or why there is none. */
export type NodeFinding =
  | { readonly node: Node }
  | { readonly node?: undefined; readonly reason: string; readonly message: string; readonly unknown?: boolean };

/** What the conditions of a Machine are computed from. */
export interface MachineView {
  readonly observed: Observed;
  readonly finding: NodeFinding;
  readonly deletion: Deletion | undefined;
  readonly now: number;
}

/** Every condition of a Machine but Available, which needs the time since Ready. */
export function machineConditions(view: MachineView): WantedCondition[] {
  const { observed, deletion } = view;
  const { machine } = observed;
  const bootstrap = bootstrapCondition(observed);
  const infrastructure = referredCondition(observed.infrastructure, {
    type: "InfrastructureReady",
    noun: "Infrastructure",
    isReady: isProvisioned,
    wasThere: machine.status?.initialization?.infrastructureProvisioned === true,
  });
  const [nodeHealthy, nodeReady] = nodeConditions(view);
  const inputs: SummaryInput[] = [
    { label: "BootstrapConfigReady", condition: bootstrap },
    { label: "InfrastructureReady", condition: infrastructure },
    { label: "NodeHealthy", condition: nodeHealthy },
    ...checkedHealth(machine),
    ...gates(machine),
    ...(deletion ? [{ label: "Deleting", condition: { status: "False", message: deletion.reason } } as const] : []),
  ];
  return [
    summarise("Ready", { whenTrue: "Ready", whenFalse: "NotReady", whenUnknown: "ReadyUnknown" }, inputs),
    ...upToDateCondition(view, nodeReady),
    bootstrap,
    infrastructure,
    nodeHealthy,
    nodeReady,
    ...nodeMetadataCondition(view),
    deletion ? deletingCondition(deletion) : { type: "Deleting", status: "False", reason: "NotDeleting" },
    notPaused,
  ];
}

/** Ready for minReadySeconds. `until`: when it will be. */
export function availableCondition(
  machine: Machine,
  conditions: readonly Condition[],
  now: number,
): { condition: WantedCondition; until?: number } {
  const ready = getCondition(conditions, "Ready");
  if (ready?.status !== "True") return { condition: { type: "Available", status: "False", reason: "NotReady" } };
  const until = Date.parse(ready.lastTransitionTime) + (machine.spec.minReadySeconds ?? 0) * 1000;
  if (until <= now) return { condition: { type: "Available", status: "True", reason: "Available" } };
  return { condition: { type: "Available", status: "False", reason: "WaitingForMinReadySeconds" }, until };
}

function bootstrapCondition({ machine, bootstrap }: Observed): WantedCondition {
  const type = "BootstrapConfigReady";
  if (!bootstrap) {
    return machine.spec.bootstrap.dataSecretName
      ? { type, status: "True", reason: "DataSecretProvided" }
      : {
          type,
          status: "False",
          reason: "BootstrapConfigDoesNotExist",
          message: "spec.bootstrap names neither a configuration nor a Secret",
        };
  }
  const isReady = (object: ProviderObject) => dataSecretNameOf(object) !== undefined;
  const wasThere = machine.status?.initialization?.bootstrapDataSecretCreated === true;
  return referredCondition(bootstrap, { type, noun: "BootstrapConfig", isReady, wasThere });
}

interface MirrorRule {
  readonly type: string;
  readonly noun: string;
  readonly isReady: (object: ProviderObject) => boolean;
  readonly wasThere: boolean;
}

/** The provider's Ready condition under our name; without one, what its initialization says. */
function referredCondition(referred: Referred<ProviderObject>, how: MirrorRule): WantedCondition {
  const { type, noun, isReady, wasThere } = how;
  const { object, reference } = referred;
  if (!object) {
    return wasThere
      ? {
          type,
          status: "False",
          reason: `${noun}Deleted`,
          message: `${reference.kind} ${reference.name} has been deleted`,
        }
      : { type, status: "False", reason: `${noun}DoesNotExist`, message: whyAbsent(referred) };
  }
  const ready = conditionOf(object, "Ready");
  if (ready) {
    return { type, status: ready.status, reason: ready.reason || "Ready", message: ready.message ?? "" };
  }
  return isReady(object)
    ? { type, status: "True", reason: "Ready" }
    : {
        type,
        status: "False",
        reason: "NotReady",
        message: `${reference.kind} ${reference.name} has not been provided yet`,
      };
}

function nodeConditions({ observed, finding, now }: MachineView): [healthy: WantedCondition, ready: WantedCondition] {
  if (finding.node) return [healthOf(finding.node), readinessOf(finding.node)];
  const { reason, message } = finding;
  const status = finding.unknown ? "Unknown" : "False";
  const previous = observed.machine.status?.conditions;
  if (finding.unknown && isBelieved(observed, now)) {
    const healthy = getCondition(previous, "NodeHealthy");
    const ready = getCondition(previous, "NodeReady");
    if (healthy && ready && observedOfNode.has(healthy.reason ?? "")) return [healthy, ready];
  }
  return [
    { type: "NodeHealthy", status, reason, message },
    { type: "NodeReady", status, reason, message },
  ];
}

/** When what was seen last stops being believed. */
export function believedUntil(observed: Observed): number | undefined {
  const probe = getCondition(observed.cluster?.status?.conditions, "RemoteConnectionProbe");
  return probe && probe.status !== "True" ? Date.parse(probe.lastTransitionTime) + connectionGrace : undefined;
}

/** Only what was seen of a Node is believed, never the reason for which there was none. */
const observedOfNode: ReadonlySet<string> = new Set(["NodeHealthy", "NodeNotHealthy", "NodeHealthUnknown"]);

/** A cluster that was never connected has nothing that could be believed. */
function isBelieved(observed: Observed, now: number): boolean {
  const probe = getCondition(observed.cluster?.status?.conditions, "RemoteConnectionProbe");
  return probe !== undefined && now < (believedUntil(observed) ?? Infinity);
}

const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"];

function healthOf(node: Node): WantedCondition {
  const all = node.status?.conditions ?? [];
  const ready = all.find(({ type }) => type === "Ready");
  const inputs: SummaryInput[] = [
    { label: "Node.Ready", condition: ready ?? { status: "Unknown", message: "is not reported" } },
    ...all
      .filter(({ type }) => pressures.includes(type))
      .map(({ type, status, message = "" }) => ({
        label: `Node.${type}`,
        condition: { status: status === "False" ? "True" : status === "True" ? "False" : "Unknown", message } as const,
      })),
  ];
  return summarise(
    "NodeHealthy",
    { whenTrue: "NodeHealthy", whenFalse: "NodeNotHealthy", whenUnknown: "NodeHealthUnknown" },
    inputs,
  );
}

function readinessOf(node: Node): WantedCondition {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return { type: "NodeReady", status: "True", reason: "NodeReady" };
  const message = ready?.message ?? "The Node does not report Ready";
  return ready?.status === "False"
    ? { type: "NodeReady", status: "False", reason: "NodeNotReady", message }
    : { type: "NodeReady", status: "Unknown", reason: "NodeReadyUnknown", message };
}

/** What the Node has of the Machine's labels and taints. While it is not known or not done, what it had before. */
function nodeMetadataCondition({ observed, finding, now }: MachineView): WantedCondition[] {
  const { machine } = observed;
  if (finding.node && nodePatch(finding.node, machine, isOutdated(observed, now)) === undefined) {
    const message = nodeMetadataOf(machine);
    return message === undefined ? [] : [{ type: nodeMetadataApplied, status: "True", reason: "Applied", message }];
  }
  const before = getCondition(machine.status?.conditions, nodeMetadataApplied);
  return before ? [before] : [];
}

/** What a MachineHealthCheck found, if there is one. */
function checkedHealth({ status }: Machine): SummaryInput[] {
  const condition = getCondition(status?.conditions, "HealthCheckSucceeded");
  return condition ? [{ label: "HealthCheckSucceeded", condition }] : [];
}

function gates(machine: Machine): SummaryInput[] {
  return (machine.spec.readinessGates ?? []).map(({ conditionType, polarity }) => {
    const condition = getCondition(machine.status?.conditions, conditionType);
    const good = polarity === "Negative" ? condition?.status === "False" : condition?.status === "True";
    return { label: conditionType, condition: { status: good ? "True" : "False", message: condition?.message ?? "" } };
  });
}

/** What UpToDate says of a Machine that a rollout replaces. */
export const NEWER_TEMPLATE = "The MachineDeployment has a newer template";

/** Is the Machine one that a rollout of its MachineDeployment replaces? */
export function isOutdated({ machineSet, deployment }: Observed, now: number): boolean {
  return machineSet !== undefined && deployment !== undefined && !isCurrentSet(machineSet, deployment, now);
}

/** Only machines of a MachineDeployment can be out of date. */
function upToDateCondition({ observed, now }: MachineView, nodeReady: WantedCondition): WantedCondition[] {
  const { machine, machineSet, finding } = { ...observed, finding: observed.workload };
  const type = "UpToDate";
  if (!machineSet) return [];
  if (isOutdated(observed, now)) {
    return [{ type, status: "False", reason: "NotUpToDate", message: NEWER_TEMPLATE }];
  }
  const kubelet = nodeReady.status === "True" && finding.reach === "connected" ? kubeletVersion(observed) : undefined;
  if (kubelet && machine.spec.version && !isStoredAlike(kubelet, machine.spec.version)) {
    return [
      {
        type,
        status: "False",
        reason: "NotUpToDate",
        message: `The kubelet is ${kubelet}, not ${machine.spec.version}`,
      },
    ];
  }
  return [{ type, status: "True", reason: "UpToDate" }];
}

function kubeletVersion({ machine, workload }: Observed): string | undefined {
  if (workload.reach === "unreachable") return undefined;
  const node = workload.nodes.find(({ metadata }) => metadata.name === machine.status?.nodeRef?.name);
  return node?.status?.nodeInfo?.["kubeletVersion"];
}

/** For counters of sets and deployments. */
export function isReadyMachine(machine: Machine): boolean {
  return isTrue(machine.status?.conditions, "Ready");
}

/** For counters: a machine that is being deleted is not available, whatever its conditions say. */
export function isAvailableMachine(machine: Machine): boolean {
  return isTrue(machine.status?.conditions, "Available") && machine.metadata.deletionTimestamp === undefined;
}
