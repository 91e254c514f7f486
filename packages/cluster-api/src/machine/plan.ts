import { annotations, Cluster, finalizers, labels, Machine, type MachineStatus } from "@causeway/api";
import { isTrue, ownerReference, timestamp, type Node, type Plan, type PlannedEvent } from "@causeway/kubernetes";
import {
  addressesOf,
  dataSecretNameOf,
  failureDomainOf,
  isProvisioned,
  providerIDOf,
} from "../contract/provider-object.ts";
import { settleConditions } from "../objects/conditions.ts";
import { metadataPatch } from "../objects/metadata.ts";
import { pausedPlan } from "../objects/paused.ts";
import { patchStep } from "../objects/steps.ts";
import { availableCondition, believedUntil, isOutdated, machineConditions, type NodeFinding } from "./conditions.ts";
import { planDeletion, type Deletion } from "./deletion.ts";
import type { Referred } from "../contract/kind-table.ts";
import type { Observed } from "./observed.ts";
import { nodePatch } from "./node.ts";
import type { MachineStep } from "./steps.ts";

/** Steps are in the management cluster, and on the Node and its pods in the workload cluster. */
export type MachinePlan = Plan<MachineStep, MachineStatus>;

/**
 * What to do for a Machine. Everything a provider says is copied once it is provisioned, and never withdrawn.
 */
export function plan(observed: Observed, now: number): MachinePlan {
  const { machine } = observed;
  const paused = pausedPlan(machine, observed.cluster, now);
  if (paused) return paused;
  const finding = findNode(observed);
  const deletion = machine.metadata.deletionTimestamp ? planDeletion(observed, now) : undefined;
  const steps = deletion ? deletion.steps : [...upkeep(observed), ...nodeUpkeep(finding, observed, now)];
  const { status, until } = statusOf({ observed, finding, deletion, now });
  // While there are more steps, the observed state is not the one to report.
  const events = steps.length === 0 ? transitions(machine, status) : [];
  const untils = [until, deletion?.until, believedUntil(observed)].filter((at) => at !== undefined && at > now);
  const wait = waitFor(observed, deletion, finding);
  return {
    steps,
    status,
    events,
    wait: { for: wait, ...(untils.length > 0 ? { until: Math.min(...(untils as number[])) } : {}) },
  };
}

/** The Node whose providerID is the Machine's. Two of them is an error that only the user can resolve. */
export function findNode(observed: Observed): NodeFinding {
  const { machine, cluster, workload } = observed;
  const type = "NodeInspectionFailed";
  // The first Node of a control plane without a provider is what initializes the Cluster.
  const isFirst = machine.metadata.labels?.[labels.controlPlane] !== undefined && workload.reach === "connected";
  if (!isFirst && !isTrue(cluster?.status?.conditions, "ControlPlaneInitialized")) {
    return { reason: "InspectionFailed", message: "Waiting for the control plane to be initialized", unknown: true };
  }
  const providerID = machine.spec.providerID;
  if (!providerID) {
    return {
      reason: "InspectionFailed",
      message: "Waiting for the infrastructure to report spec.providerID",
      unknown: true,
    };
  }
  if (workload.reach === "unreachable") {
    return { reason: "ConnectionDown", message: "The workload cluster cannot be reached", unknown: true };
  }
  const found = workload.nodes.filter((node) => node.spec?.providerID === providerID);
  if (found.length > 1) {
    const names = found.map(({ metadata }) => metadata.name).join(", ");
    return { reason: type, message: `Several Nodes have providerID ${providerID}: ${names}` };
  }
  const known = machine.status?.nodeRef?.name;
  const node = found[0] ?? workload.nodes.find(({ metadata }) => metadata.name === known);
  if (node) return { node };
  return known
    ? { reason: "NodeDeleted", message: `Node ${known} has been deleted` }
    : { reason: "NodeDoesNotExist", message: `Waiting for a Node with providerID ${providerID}`, unknown: true };
}

/** Metadata of the Machine and its provider objects, and the fields copied from them into its spec. */
function upkeep(observed: Observed): MachineStep[] {
  const { machine, cluster, infrastructure, bootstrap } = observed;
  if (!cluster) return [];
  const isOwned = machine.metadata.ownerReferences?.some(({ controller }) => controller) ?? false;
  const own = metadataPatch(machine, {
    finalizer: finalizers.machine,
    labels: { [labels.clusterName]: machine.spec.clusterName },
    ...(isOwned ? {} : { owner: { ...ownerReference(cluster), apiVersion: apiVersionOf(Cluster) } }),
  });
  return [
    ...patchStep(Machine, machine, own),
    ...adoption(infrastructure, machine),
    ...(bootstrap ? adoption(bootstrap, machine) : []),
    ...specCopies(observed),
  ];
}

function adoption({ object, kind }: Referred, machine: Machine): MachineStep[] {
  if (!object || !kind || object.metadata.deletionTimestamp) return [];
  const owner = { ...ownerReference(machine, { controller: true }), apiVersion: apiVersionOf(Machine) };
  const patch = metadataPatch(object, { owner, labels: { [labels.clusterName]: machine.spec.clusterName } });
  return patchStep(kind, object, patch);
}

function specCopies({ machine, infrastructure, bootstrap }: Observed): MachineStep[] {
  const changes: Record<string, unknown> = {};
  const secret = bootstrap?.object && dataSecretNameOf(bootstrap.object);
  if (secret && machine.spec.bootstrap.dataSecretName !== secret) changes["bootstrap"] = { dataSecretName: secret };
  const host = infrastructure.object;
  if (host && isProvisioned(host)) {
    const providerID = providerIDOf(host);
    if (providerID && machine.spec.providerID !== providerID) changes["providerID"] = providerID;
  }
  return patchStep(Machine, machine, Object.keys(changes).length > 0 ? { spec: changes } : undefined);
}

function nodeUpkeep({ node }: NodeFinding, observed: Observed, now: number): MachineStep[] {
  if (!node || node.metadata.deletionTimestamp) return [];
  const body = nodePatch(node, observed.machine, isOutdated(observed, now));
  return body ? [{ type: "patch-node", name: node.metadata.name, body }] : [];
}

interface View {
  readonly observed: Observed;
  readonly finding: NodeFinding;
  readonly deletion: Deletion | undefined;
  readonly now: number;
}

function statusOf(view: View): { status: MachineStatus; until?: number } {
  const { observed, deletion, now } = view;
  const { machine } = observed;
  const { generation } = machine.metadata;
  const before = machine.status;
  const context = { previous: before?.conditions, generation, now };
  const wanted = machineConditions(view);
  const { condition: available, until } = availableCondition(machine, settleConditions(wanted, context), now);
  const shape: MachineStatus = {
    conditions: settleConditions([available, ...wanted], context),
    ...copiesOf(view),
    ...(deletion && Object.keys(deletion.times).length > 0 ? { deletion: deletion.times } : {}),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  const phase = phaseOf(machine, shape);
  const lastUpdated = phase === before?.phase ? before?.lastUpdated : timestamp(now);
  return {
    status: { ...shape, phase, ...(lastUpdated ? { lastUpdated } : {}) },
    ...(until === undefined ? {} : { until }),
  };
}

/** What the infrastructure and the Node report; a reported value remains until another one is reported. */
function copiesOf({ observed, finding }: View): MachineStatus {
  const before = observed.machine.status;
  const initialization = initializationOf(observed);
  const host = initialization.infrastructureProvisioned ? observed.infrastructure.object : undefined;
  const addresses = host ? addressesOf(host) : (before?.addresses ?? []);
  const failureDomain = (host && failureDomainOf(host)) ?? before?.failureDomain;
  const nodeRef = finding.node ? { name: finding.node.metadata.name } : before?.nodeRef;
  const nodeInfo = finding.node ? nodeInfoOf(finding.node) : before?.nodeInfo;
  return {
    initialization,
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(failureDomain ? { failureDomain } : {}),
    ...(nodeRef ? { nodeRef } : {}),
    ...(nodeInfo ? { nodeInfo } : {}),
    ...expiryOf(observed),
  };
}

/** When the API server's certificate on a control-plane machine expires, as its control plane or its bootstrap says. */
function expiryOf({ machine, bootstrap }: Observed): Pick<MachineStatus, "certificatesExpiryDate"> {
  const noted = [bootstrap?.object, machine].map(
    (object) => object?.metadata.annotations?.[annotations.certificatesExpiry],
  );
  const expiry = noted.find((text) => text !== undefined && !Number.isNaN(Date.parse(text)));
  return expiry === undefined ? {} : { certificatesExpiryDate: timestamp(Date.parse(expiry)) };
}

function initializationOf({
  machine,
  infrastructure,
  bootstrap,
}: Observed): NonNullable<MachineStatus["initialization"]> {
  const before = machine.status?.initialization;
  const host = infrastructure.object;
  const secretProvided = !bootstrap && !!machine.spec.bootstrap.dataSecretName;
  const secretMade = bootstrap?.object !== undefined && dataSecretNameOf(bootstrap.object) !== undefined;
  const infrastructureProvisioned =
    before?.infrastructureProvisioned === true ||
    (host !== undefined && isProvisioned(host) && providerIDOf(host) !== undefined);
  return {
    bootstrapDataSecretCreated: before?.bootstrapDataSecretCreated === true || secretProvided || secretMade,
    infrastructureProvisioned,
  };
}

/** `status.phase`, which follows from spec and status. */
export type MachinePhase = NonNullable<MachineStatus["phase"]>;

function phaseOf(machine: Machine, status: MachineStatus): MachinePhase {
  if (machine.metadata.deletionTimestamp) return "Deleting";
  const { infrastructureProvisioned, bootstrapDataSecretCreated } = status.initialization ?? {};
  if (infrastructureProvisioned) return status.nodeRef ? "Running" : "Provisioned";
  return bootstrapDataSecretCreated ? "Provisioning" : "Pending";
}

const infoFields = [
  "machineID",
  "systemUUID",
  "bootID",
  "kernelVersion",
  "osImage",
  "containerRuntimeVersion",
  "kubeletVersion",
  "kubeProxyVersion",
  "operatingSystem",
  "architecture",
] as const;

function nodeInfoOf(node: Node): MachineStatus["nodeInfo"] {
  const info = node.status?.nodeInfo;
  if (!info?.["kubeletVersion"]) return undefined;
  const pairs = infoFields.map((name) => [name, info[name] ?? ""] as const);
  return Object.fromEntries(pairs) as Record<(typeof infoFields)[number], string>;
}

function transitions(machine: Machine, status: MachineStatus): PlannedEvent[] {
  if (machine.status?.phase === status.phase || !machine.metadata.resourceVersion) return [];
  const messages: Partial<Record<MachinePhase, string>> = {
    Provisioning: "Bootstrap data is ready, the infrastructure is being created",
    Provisioned: `The infrastructure is provisioned (${machine.spec.providerID ?? ""}), waiting for the Node`,
    Running: `Node ${status.nodeRef?.name ?? ""} has joined`,
  };
  const message = messages[status.phase ?? "Unknown"];
  return message ? [{ type: "Normal", reason: status.phase ?? "Unknown", message }] : [];
}

/** The events of a step that was performed. */
export function machineStepEvents(step: MachineStep): PlannedEvent[] {
  const event = (reason: string, message: string): PlannedEvent[] => [{ type: "Normal", reason, message }];
  if (step.type === "delete") return event("Deleting", `Deleting ${step.resource.kind} ${step.key.name}`);
  if (step.type === "drain") return event("DrainingNode", `Evicted ${step.pods.length} pods from Node ${step.node}`);
  if (step.type === "delete-node") return event("DeletingNode", `Deleting Node ${step.name}`);
  return [];
}

function waitFor(observed: Observed, deletion: Deletion | undefined, finding: NodeFinding): string {
  if (deletion) return deletion.message || "the Machine to be deleted";
  if (!observed.cluster) return `Cluster ${observed.machine.spec.clusterName}`;
  return finding.node ? "changes" : finding.message;
}

function apiVersionOf(kind: { group: string; version: string }): string {
  return `${kind.group}/${kind.version}`;
}
