import { at, isRecord, record, records, text, type Json } from "../../json/json.ts";
import type { Column } from "../../contract/resource.ts";
import { age } from "../../tables/age.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** What a row says of a pod, as kubectl's users know it. */
interface Seen {
  readonly ready: number;
  readonly reason: string;
  readonly restarts: number;
  /** When a container last ended, RFC 3339; "" when none did. */
  readonly last: string;
}

const NOTHING = { ready: 0, restarts: 0, last: "" };

/** An init container with restartPolicy Always: it starts before the others and keeps running. */
function isSidecar(pod: Json, name: unknown): boolean {
  const found = records(at(pod, "spec", "initContainers")).find((c) => c["name"] === name);
  return found?.["restartPolicy"] === "Always";
}

function restartsOf(status: Json): number {
  return typeof status["restartCount"] === "number" ? status["restartCount"] : 0;
}

function later(last: string, status: Json): string {
  const ended = text(at(status, "lastState", "terminated", "finishedAt"));
  return ended > last ? ended : last;
}

function endedBy(terminated: Json): string {
  if (text(terminated["reason"])) return text(terminated["reason"]);
  const { signal, exitCode } = terminated;
  return typeof signal === "number" && signal !== 0 ? `Signal:${signal}` : `ExitCode:${Number(exitCode ?? 0)}`;
}

/** Why a pod's beginning is not over at this container; undefined when it is. */
function initReason(pod: Json, status: Json, i: number): string | undefined {
  const { terminated, waiting } = record(status["state"]);
  if (isRecord(terminated)) return terminated["exitCode"] === 0 ? undefined : `Init:${endedBy(terminated)}`;
  if (isSidecar(pod, status["name"]) && status["started"] === true) return undefined;
  const why = text(at(waiting, "reason"));
  if (why !== "" && why !== "PodInitializing") return `Init:${why}`;
  return `Init:${i}/${records(at(pod, "spec", "initContainers")).length}`;
}

interface InitProgress {
  /** Set when it is not over. */
  readonly reason?: string;
  readonly all: Omit<Seen, "reason">;
  readonly sidecars: Omit<Seen, "reason">;
}

function beginning(pod: Json): InitProgress {
  let all = NOTHING;
  let sidecars = NOTHING;
  for (const [i, status] of records(at(pod, "status", "initContainerStatuses")).entries()) {
    const count = restartsOf(status);
    all = { ...all, restarts: all.restarts + count, last: later(all.last, status) };
    if (isSidecar(pod, status["name"])) {
      sidecars = { ...sidecars, restarts: sidecars.restarts + count, last: later(sidecars.last, status) };
    }
    const reason = initReason(pod, status, i);
    if (reason !== undefined) return { reason, all, sidecars };
    const isUp = isSidecar(pod, status["name"]) && status["ready"] === true && !at(status, "state", "terminated");
    if (isUp) sidecars = { ...sidecars, ready: sidecars.ready + 1 };
  }
  return { all, sidecars };
}

function running(pod: Json, from: Seen): Seen & { readonly isUp: boolean } {
  let { ready, reason, restarts, last } = from;
  let isUp = false;
  for (const status of records(at(pod, "status", "containerStatuses")).toReversed()) {
    restarts += restartsOf(status);
    last = later(last, status);
    const { waiting, terminated, running: now } = record(status["state"]);
    if (text(at(waiting, "reason"))) reason = text(at(waiting, "reason"));
    else if (isRecord(terminated)) reason = endedBy(terminated);
    else if (status["ready"] === true && isRecord(now)) {
      isUp = true;
      ready += 1;
    }
  }
  return { ready, reason, restarts, last, isUp };
}

function condition(pod: Json, type: string): Json {
  return records(at(pod, "status", "conditions")).find((c) => c["type"] === type) ?? {};
}

function seen(pod: Json): Seen {
  const status = record(pod["status"]);
  const phase = text(status["phase"]);
  const isGated = condition(pod, "PodScheduled")["reason"] === "SchedulingGated";
  const first = isGated ? "SchedulingGated" : text(status["reason"]) || phase;
  const begun = beginning(pod);
  const isOver = begun.reason === undefined || condition(pod, "Initialized")["status"] === "True";
  let found: Seen = { ...begun.all, ready: begun.sidecars.ready, reason: begun.reason ?? first };
  if (isOver) {
    const { isUp, ...now } = running(pod, { ...begun.sidecars, reason: found.reason });
    const isReady = condition(pod, "Ready")["status"] === "True";
    found = now.reason === "Completed" && isUp ? { ...now, reason: isReady ? "Running" : "NotReady" } : now;
  }
  if (at(pod, "metadata", "deletionTimestamp") === undefined) return found;
  if (status["reason"] === "NodeLost") return { ...found, reason: "Unknown" };
  return phase === "Succeeded" || phase === "Failed" ? found : { ...found, reason: "Terminating" };
}

function ready(pod: Json): string {
  const sidecars = records(at(pod, "spec", "initContainers")).filter((c) => c["restartPolicy"] === "Always");
  return `${seen(pod).ready}/${records(at(pod, "spec", "containers")).length + sidecars.length}`;
}

function restarts(pod: Json, now: number): string {
  const { restarts: count, last } = seen(pod);
  return count !== 0 && last !== "" ? `${count} (${age(last, now)} ago)` : String(count);
}

function gates(pod: Json): string {
  const wanted = records(at(pod, "spec", "readinessGates"));
  if (wanted.length === 0) return "<none>";
  const met = wanted.filter((g) => condition(pod, text(g["conditionType"]))["status"] === "True");
  return `${met.length}/${wanted.length}`;
}

/** As `kubectl get po` prints them; Status is a reason such as "CrashLoopBackOff" where there is one. */
export const POD_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Ready", cell: ready },
  { name: "Status", cell: (o) => seen(o).reason },
  { name: "Restarts", cell: restarts },
  AGE,
  { name: "IP", priority: 1, cell: (o) => text(records(at(o, "status", "podIPs"))[0]?.["ip"]) || "<none>" },
  { name: "Node", priority: 1, cell: (o) => text(at(o, "spec", "nodeName")) || "<none>" },
  { name: "Nominated Node", priority: 1, cell: (o) => text(at(o, "status", "nominatedNodeName")) || "<none>" },
  { name: "Readiness Gates", priority: 1, cell: gates },
];
