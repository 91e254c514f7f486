import type { MagnumClusterStatus } from "@causeway/api";
import { isTrue, timestamp, type Plan, type PlannedEvent } from "@causeway/kubernetes";
import { addonsFailed, addonsWaitFor } from "./addon-status.ts";
import type { Observed } from "./gather.ts";
import type { Decided } from "./plan-desired.ts";
import { deletionVerdict, groupVerdict, mastersVerdict } from "./plan-groups.ts";
import { healthOf } from "./health.ts";
import { progressOf, type Progress } from "./plan-progress.ts";
import { rotationWaitsFor } from "./plan-rotation.ts";
import {
  createVerdict,
  findingOf,
  isControlPlaneReady,
  rotationFacts,
  sinceOf,
  updateVerdict,
  waitOf,
  type Verdict,
} from "./plan-verdict.ts";
import { arePoolsSettled, deletedPoolsOf, poolsOf, poolStatus, type Pool } from "./pools.ts";
import type { Step } from "./steps.ts";

type Status = MagnumClusterStatus;

/** The state that clients see. `isWriting`: objects are not yet as the cluster wants them. */
export function statusOf(
  observed: Decided,
  isWriting: boolean,
  now: number,
): Pick<Plan<Step, Status>, "status" | "wait" | "events"> {
  const { object } = observed;
  const { status: before } = object;
  const pools = poolsOf(observed);
  const isDone = !isWriting && isSettled(observed);
  const created = before?.created === true || isDone;
  const finding = isDone ? undefined : findingOf(observed, now);
  const since = sinceOf(observed, { isDone, isWriting }, now);
  const progress =
    before?.created === true && since !== undefined ? progressFrom(observed, isWriting, { since, now }) : undefined;
  const change = { observed, isDone, isWriting, finding, now, since, progress };
  const verdict = before?.created === true ? updateVerdict(change) : createVerdict(change);
  const status: Status = {
    ...(before?.conditions ? { conditions: before.conditions } : {}),
    observedGeneration: object.metadata.generation ?? 0,
    status: verdict.status,
    reason: verdict.reason.slice(0, 4_000),
    ...(verdict.code === undefined ? {} : { code: verdict.code }),
    ...(created ? { created } : {}),
    ...(addonsFailed(observed, since !== undefined || isWriting) ? { addonsFailed: true } : {}),
    ...(change.since === undefined ? {} : { changingSince: timestamp(change.since) }),
    ...(progress === undefined ? {} : { progress }),
    ...healthOf(observed),
    ...mastersOf(observed),
    ...runtimeOf(pools),
    masters: mastersVerdict(change, verdict),
    nodeGroups: [
      ...pools.map((pool) => poolStatus(pool, groupVerdict(pool, change, verdict))),
      ...deletedPoolsOf(observed).map((pool) => poolStatus(pool, deletionVerdict(pool, change, verdict))),
    ],
  };
  const timed = waitOf(change);
  return { status, ...(timed ? { wait: timed } : {}), ...eventOf(before, verdict) };
}

function progressFrom(
  observed: Decided,
  isWriting: boolean,
  times: { readonly since: number; readonly now: number },
): Progress {
  const rotation = rotationFacts(observed);
  return progressOf(observed, { rotation, isControlPlaneReady: isControlPlaneReady(observed), isWriting, ...times });
}

function isSettled(observed: Decided): boolean {
  const isReady = observed.hasCredentials && isControlPlaneReady(observed) && arePoolsSettled(observed);
  if (!isReady || rotationWaitsFor(rotationFacts(observed)) !== undefined) return false;
  return addonsWaitFor(observed) === undefined;
}

/** What is known of the control plane. */
function mastersOf({
  controlPlane,
}: Observed): Pick<Status, "apiAddress" | "masterAddresses" | "coeVersion" | "masterReady"> {
  const { endpoint, version, conditions } = controlPlane?.status ?? {};
  return {
    ...(endpoint === undefined
      ? {}
      : { apiAddress: `https://${hostOf(endpoint.host)}:${endpoint.port}`, masterAddresses: [endpoint.host] }),
    ...(version === undefined ? {} : { coeVersion: version }),
    masterReady: isTrue(conditions, "Available"),
  };
}

/** "containerd://2.1.4" of a node is version 2.1.4. */
function runtimeOf(pools: readonly Pool[]): Pick<Status, "containerVersion"> {
  const reported = pools
    .flatMap(({ machines }) => machines.map(({ status }) => status?.nodeInfo?.containerRuntimeVersion))
    .find((version) => version !== undefined && version !== "");
  const version = reported?.replace(/^[a-z0-9-]+:\/\//, "").slice(0, 64);
  return version ? { containerVersion: version } : {};
}

const hostOf = (host: string) => (host.includes(":") ? `[${host}]` : host);

function eventOf(before: Status | undefined, verdict: Verdict): { events?: readonly PlannedEvent[] } {
  if (before?.status === verdict.status) return {};
  const type = verdict.status.endsWith("FAILED") ? "Warning" : "Normal";
  return { events: [{ type, reason: verdict.status, message: verdict.reason.slice(0, 1_000) }] };
}
