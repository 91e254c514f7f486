import type { MagnumClusterStatus } from "@causeway/api";
import { firstFinding } from "./findings.ts";
import type { Decided } from "./plan-desired.ts";
import {
  isControlPlaneReady,
  isOverdue,
  poolText,
  rotationFacts,
  timeLimitText,
  waitingForControlPlane,
  worded,
  type Change,
  type Verdict,
} from "./plan-verdict.ts";
import { rotationStage, rotationWaitsFor } from "./plan-rotation.ts";
import { deletedPoolsOf, serversOf, type Pool } from "./pools.ts";
import type { Step } from "./steps.ts";

type GroupStatus = NonNullable<MagnumClusterStatus["nodeGroups"]>[number];

/**
 * The state of one node group, by its own machines: what fails in another group, the network or the control plane is
 * the cluster's, and a group that waits for it is in progress. What is late without a cause has failed, too.
 */
export function groupVerdict(pool: Pool, change: Change, whole: Verdict): Pick<GroupStatus, "status" | "reason"> {
  const { observed } = change;
  const previous = observed.object.status?.nodeGroups?.find(({ uuid }) => uuid === pool.group.uuid);
  if (pool.isSettled) return { status: completeOf(previous), reason: "" };
  const isFirst = previous === undefined || isUnmade(previous);
  if (!isFirst && whole.status.endsWith("COMPLETE")) return { status: previous.status, reason: previous.reason ?? "" };
  const finding = firstFinding([...serversOf(pool, observed.servers), ...pool.machines]);
  const isLate = isOverdue(change) && !waitsForAnother(observed);
  const failed = whole.status.endsWith("FAILED") && (finding?.isTerminal === true || isLate);
  const cause = worded(finding) ?? `${timeLimitText(observed.object)}; ${poolText(pool)}`;
  return {
    status: `${isFirst ? "CREATE" : "UPDATE"}_${failed ? "FAILED" : "IN_PROGRESS"}`,
    reason: (failed ? cause : (finding?.message ?? "")).slice(0, 4_000),
  };
}

/** The state of default-master, by the control plane and the network that it needs. */
export function mastersVerdict(change: Change, whole: Verdict): Pick<GroupStatus, "status" | "reason"> {
  const { observed } = change;
  const { object, infrastructure, controlPlane } = observed;
  const previous = object.status?.masters;
  const waiting = mastersWaitFor(observed);
  if (waiting === undefined) return { status: completeOf(previous), reason: "" };
  const isFirst = previous === undefined ? object.status?.created !== true : isUnmade(previous);
  if (!isFirst && whole.status.endsWith("COMPLETE")) return previous ?? { status: "CREATE_COMPLETE", reason: "" };
  const finding = firstFinding([infrastructure, controlPlane]);
  const failed = whole.status.endsWith("FAILED") && (finding?.isTerminal === true || isOverdue(change));
  const cause = worded(finding) ?? `${timeLimitText(object)}; ${waiting}`;
  return {
    status: `${isFirst ? "CREATE" : "UPDATE"}_${failed ? "FAILED" : "IN_PROGRESS"}`,
    reason: (failed ? cause : (finding?.message ?? waiting)).slice(0, 4_000),
  };
}

/** What the control plane itself waits for: not the nodes, which are replaced in the middle of a rotation. */
function mastersWaitFor(observed: Decided): string | undefined {
  if (!isControlPlaneReady(observed)) return waitingForControlPlane(observed);
  const facts = rotationFacts(observed);
  return rotationStage(facts) === "Rolling" ? undefined : rotationWaitsFor(facts);
}

const isUnmade = ({ status }: Pick<GroupStatus, "status">): boolean =>
  status.startsWith("CREATE") && status !== "CREATE_COMPLETE";

/**
 * The state of a node group that is being deleted: it is listed until its nodes are gone. It has failed when its time
 * is over: what its servers and machines report may be from before the deletion, and why it was requested.
 */
export function deletionVerdict(pool: Pool, change: Change, whole: Verdict): Pick<GroupStatus, "status" | "reason"> {
  const { observed } = change;
  const finding = firstFinding([...serversOf(pool, observed.servers), ...pool.machines]);
  const failed = whole.status.endsWith("FAILED") && isOverdue(change);
  const left = `nodes still to be deleted: ${pool.machines.length}`;
  const cause = worded(finding) ?? `${timeLimitText(observed.object)}; ${left}`;
  return {
    status: failed ? "DELETE_FAILED" : "DELETE_IN_PROGRESS",
    reason: (failed ? cause : (finding?.message ?? left)).slice(0, 4_000),
  };
}

/** Deleted node groups of which nothing is left are listed no longer. */
export function departedGroups(observed: Decided): readonly Step[] {
  return deletedPoolsOf(observed)
    .filter((pool) => pool.deployment === undefined && pool.machines.length === 0)
    .filter((pool) => serversOf(pool, observed.servers).length === 0)
    .map(({ group }) => ({ type: "remove-group", name: group.name, uuid: group.uuid }));
}

/** The network or the control plane is not there or fails, which all node groups wait for. */
function waitsForAnother(observed: Decided): boolean {
  const { infrastructure, controlPlane } = observed;
  return !isControlPlaneReady(observed) || firstFinding([infrastructure, controlPlane])?.isTerminal === true;
}

function completeOf(previous: Pick<GroupStatus, "status"> | undefined): GroupStatus["status"] {
  const wasCreated = previous?.status.startsWith("UPDATE") === true;
  return wasCreated ? "UPDATE_COMPLETE" : "CREATE_COMPLETE";
}
