import type { HostedControlPlane, MagnumCluster, MagnumClusterStatus } from "@causeway/api";
import { isTrue, type Plan } from "@causeway/kubernetes";
import { addonFinding, addonsWaitFor } from "./addon-status.ts";
import { driverNotes } from "./addons.ts";
import { unusedAttributes } from "./attributes.ts";
import { runtimeOf } from "./desired.ts";
import { firstFinding, type Finding } from "./findings.ts";
import type { Observed } from "./gather.ts";
import type { Decided } from "./plan-desired.ts";
import { flagLabelsOf, unusedLabels } from "./labels.ts";
import type { Progress } from "./plan-progress.ts";
import { rotationWaitsFor, type RotationFacts } from "./plan-rotation.ts";
import { arePoolsSettled, deletedPoolsOf, poolsOf, serversOf, type Pool } from "./pools.ts";
import type { Step } from "./steps.ts";

type Status = MagnumClusterStatus;

/** A change of a cluster that made no progress for so long counts as failed; work on it continues. */
const UPDATE_TIMEOUT = 60 * 60_000;
/** The credentials are written right after the row: longer means that the process that was to write them has ended. */
const CREDENTIALS_TIMEOUT = 60_000;

/** What clients are shown of the change in progress, or of the last one. */
export interface Verdict {
  readonly status: Status["status"];
  readonly reason: string;
  readonly code?: string | undefined;
}

/** Whether the control plane serves with the wanted version and the wanted number of ready API servers. */
export function isControlPlaneReady({ object, cluster, controlPlane }: Observed): boolean {
  const status = controlPlane?.status;
  return (
    cluster?.status?.initialization?.infrastructureProvisioned === true &&
    cluster.status.initialization.controlPlaneInitialized === true &&
    status?.version === object.spec.version &&
    (status.observedGeneration === undefined ||
      status.observedGeneration >= (controlPlane?.metadata.generation ?? 0)) &&
    isTrue(status.conditions, "Available") &&
    readyMasters(controlPlane) >= wantedMasters(object, controlPlane)
  );
}

/** API servers that are ready with the wanted version. */
const readyMasters = (controlPlane: HostedControlPlane | undefined): number =>
  Math.min(controlPlane?.status?.readyReplicas ?? 0, controlPlane?.status?.upToDateReplicas ?? 0);

/** 0 where the runtime does not count: it has one, and Available says whether it is ready. */
const wantedMasters = ({ spec }: MagnumCluster, controlPlane: HostedControlPlane | undefined): number =>
  runtimeOf(controlPlane) === "Pods" ? spec.masterCount : 0;

/**
 * What prevents progress: missing credentials first, then failures of the cluster's objects, then one of its add-ons
 * unless the status already has `addonsFailed`. Failures of node groups that are being deleted, often for that reason,
 * are none of the cluster's.
 */
export function findingOf(observed: Decided, now: number): Finding | undefined {
  const { object, infrastructure, controlPlane, servers, machines } = observed;
  const age = now - Date.parse(object.metadata.creationTimestamp ?? "");
  if (!observed.hasCredentials && age > CREDENTIALS_TIMEOUT) {
    const message = `the cluster has no credentials in its project: rotate them (PATCH /v1/credentials/${object.spec.uuid}), or delete the cluster`;
    return { code: "MAGNUM_CREDENTIALS_MISSING", message, isTerminal: true };
  }
  const deleted = deletedPoolsOf(observed).flatMap((pool) => [...serversOf(pool, servers), ...pool.machines]);
  const kept = [...servers, ...machines].filter((one) => !deleted.includes(one));
  const found = firstFinding([infrastructure, controlPlane, ...kept]);
  return found ?? (object.status?.addonsFailed === true ? undefined : addonFinding(observed));
}

/** A change in progress as a verdict judges it: a create, an update or a rotation. */
export interface Change {
  readonly observed: Decided;
  readonly isDone: boolean;
  readonly isWriting: boolean;
  readonly finding: Finding | undefined;
  /** When the change that is in progress began. */
  readonly since: number | undefined;
  /** Of a change of a cluster that was complete. */
  readonly progress: Progress | undefined;
  readonly now: number;
}

/** When the time of the change begins: at its last progress. */
const begunAt = ({ since, progress }: Pick<Change, "since" | "progress">): number | undefined =>
  progress === undefined ? since : Date.parse(progress.at);

/** Milliseconds that a change has: a create from its begin (0: no limit), an update from its last progress. */
function timeLimitOf({ status, spec }: MagnumCluster): number {
  if (status?.created === true) return UPDATE_TIMEOUT;
  return spec.createTimeout > 0 ? spec.createTimeout * 60_000 : Infinity;
}

/** Whether the time of the change is over. */
export function isOverdue(change: Change): boolean {
  const begun = begunAt(change);
  return begun !== undefined && change.now >= begun + timeLimitOf(change.observed.object);
}

/** What is said of a change whose time is over. */
export function timeLimitText(object: MagnumCluster): string {
  const minutes = timeLimitOf(object) / 60_000;
  return object.status?.created === true
    ? `the change made no progress for ${minutes} minutes`
    : `the cluster was not complete after ${minutes} minutes`;
}

/**
 * When the change in progress began; undefined: none is. What has no begin though it is in progress begins now: a
 * migration handed the cluster over, or objects are written again without a change of the cluster.
 */
export function sinceOf(
  { object }: Observed,
  { isDone, isWriting }: Pick<Change, "isDone" | "isWriting">,
  now: number,
): number | undefined {
  const { status, metadata } = object;
  if (isDone) return undefined;
  if (status?.created !== true) return Date.parse(metadata.creationTimestamp ?? "") || now;
  if (status.observedGeneration !== metadata.generation) return now;
  if (status.changingSince !== undefined) return Date.parse(status.changingSince);
  return isWriting || status.status === "UPDATE_IN_PROGRESS" ? now : undefined;
}

/**
 * The state of a cluster that was never complete. CREATE_FAILED after a terminal finding, or after createTimeout
 * minutes (0: no limit).
 */
export function createVerdict(change: Change): Verdict {
  const { observed, isDone, finding } = change;
  if (isDone) return { status: "CREATE_COMPLETE", reason: completeReason("CREATE", observed) };
  if (finding?.isTerminal === true || isOverdue(change)) {
    const reason = worded(finding) ?? timeLimitText(observed.object);
    return { status: "CREATE_FAILED", reason, code: finding?.code ?? "MAGNUM_CREATE_TIMEOUT" };
  }
  return { status: "CREATE_IN_PROGRESS", reason: worded(finding) ?? waitingFor(observed) };
}

/**
 * The state of a cluster that was complete before. UPDATE_FAILED after a terminal finding, or an hour without progress.
 * What
 * breaks by itself after a complete change keeps the state.
 */
export function updateVerdict(change: Change): Verdict {
  const { observed, isDone, finding, since } = change;
  const { object } = observed;
  const before = object.status;
  const isChanged = before?.observedGeneration !== object.metadata.generation;
  if (isDone) {
    if (before?.status.endsWith("_COMPLETE") === true && !isChanged) return kept(before);
    return { status: "UPDATE_COMPLETE", reason: completeReason("UPDATE", observed) };
  }
  // What breaks by itself after a change was complete is a matter of health, not of the change.
  if (since === undefined && before !== undefined) return kept(before);
  if (finding?.isTerminal === true || isOverdue(change)) {
    const reason = worded(finding) ?? `${timeLimitText(object)}; ${waitingFor(observed)}`;
    return { status: "UPDATE_FAILED", reason, code: finding?.code ?? "MAGNUM_UPDATE_TIMEOUT" };
  }
  return { status: "UPDATE_IN_PROGRESS", reason: waitingFor(observed) };
}

/** A cause with its code, as status reasons have it. */
export const worded = (finding: Finding | undefined) => finding && `${finding.message} (${finding.code})`;

const kept = ({ status, reason = "", code }: Status): Verdict => ({ status, reason, code });

/** What was accepted without effect is named where every client shows it. */
function completeReason(what: "CREATE" | "UPDATE", observed: Decided): string {
  const { object, installation, cluster, controlPlane } = observed;
  const { spec } = object;
  const attributes = unusedAttributes(object);
  const flags = flagLabelsOf(spec.labels ?? {});
  const runtime = runtimeOf(controlPlane) ?? "Embedded";
  const unused = unusedLabels(spec.labels ?? {}, runtime);
  const notes = [
    ...(spec.masterCount > 1 && runtime !== "Pods"
      ? [`master_count=${spec.masterCount} has no effect: a control plane with runtime ${runtime} has one API server`]
      : []),
    ...(spec.template.apiserverPort !== undefined && runtime !== "Pods"
      ? [
          `apiserver_port=${spec.template.apiserverPort} has no effect: a control plane with runtime ${runtime} gets a free port`,
        ]
      : []),
    ...(runtime === "Embedded" && flags.length > 0
      ? [`${flags.join(", ")} without effect: a control plane with runtime ${runtime} has no programs with flags`]
      : []),
    ...driverNotes(object, installation, cluster),
    ...(attributes.length > 0 ? [`Attributes without effect: ${attributes.join(", ")}`] : []),
    ...(unused.length > 0 ? [`Labels without effect: ${unused.join(", ").slice(0, 1_000)}`] : []),
  ];
  return [`${what} completed successfully`, ...notes].join(". ");
}

/** What `rotationStage` and the other functions of a rotation read of a cluster. */
export function rotationFacts(observed: Observed): RotationFacts {
  return { ...observed, isSettled: arePoolsSettled(observed) };
}

function waitingFor(observed: Decided): string {
  const { cluster } = observed;
  if (!observed.hasCredentials) return "waiting for the credentials of the cluster";
  if (cluster?.status?.initialization?.infrastructureProvisioned !== true)
    return "waiting for the network of the cluster";
  if (!isControlPlaneReady(observed)) return waitingForControlPlane(observed);
  const rotating = rotationWaitsFor(rotationFacts(observed));
  if (rotating !== undefined) return rotating;
  const waiting = poolsOf(observed).filter(({ isSettled }) => !isSettled);
  const pools = waiting.map(poolText);
  if (pools.length > 0) return pools.join("; ");
  return arePoolsSettled(observed)
    ? (addonsWaitFor(observed)?.message ?? "waiting for the add-ons")
    : "waiting for node groups that are being deleted";
}

/** How many nodes of a group are ready, and what is to change of it. */
export function poolText(pool: Pool): string {
  const { group, readyNodes, updatedNodes, unlabelledNodes, machines, deployment } = pool;
  const wanted = deployment?.spec.replicas ?? group.nodeCount;
  const surplus = machines.length - wanted;
  return [
    `${group.name}: ${Math.min(readyNodes, wanted)} of ${wanted} nodes are ready`,
    ...(updatedNodes === undefined ? [] : [`${updatedNodes} of ${wanted} are updated`]),
    ...(updatedNodes === undefined && unlabelledNodes > 0
      ? [`labels and taints of ${unlabelledNodes} are to be set`]
      : []),
    ...(surplus > 0 ? [`${surplus} more ${surplus === 1 ? "is" : "are"} to go`] : []),
  ].join(", ");
}

/** What a change waits for while the control plane is not as it is to be. */
export function waitingForControlPlane({ object, controlPlane }: Observed): string {
  const wanted = wantedMasters(object, controlPlane);
  const masters = wanted > 1 ? `: ${readyMasters(controlPlane)} of ${wanted} masters are ready` : "";
  return `waiting for the control plane${masters}`;
}

/** What an unfinished change waits for, and when its time limit has to be checked; undefined: the change is done. */
export function waitOf(change: Change): Plan<Step, Status>["wait"] {
  const { observed, isDone, now } = change;
  const since = begunAt(change);
  if (isDone || since === undefined) return undefined;
  const deadline = since + timeLimitOf(observed.object);
  const soon = observed.hasCredentials ? deadline : Math.min(deadline, since + CREDENTIALS_TIMEOUT + 1_000);
  const what = waitingFor(observed);
  return soon > now && soon < Infinity ? { for: what, until: soon } : { for: what };
}
