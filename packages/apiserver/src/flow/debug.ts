import type { FlowControl } from "./flow-control.ts";
import type { Level } from "./level.ts";

/** The pages below /debug/api_priority_and_fairness/, as comma-separated columns; undefined for others. */
export function flowDump(path: string, flow: FlowControl): string | undefined {
  if (path === "/debug/api_priority_and_fairness/dump_priority_levels") return lines(LEVEL_COLUMNS, levels(flow));
  if (path === "/debug/api_priority_and_fairness/dump_queues") return lines(QUEUE_COLUMNS, queues(flow));
  return undefined;
}

const LEVEL_COLUMNS = [
  "PriorityLevelName",
  "ActiveQueues",
  "IsIdle",
  "IsQuiescing",
  "WaitingRequests",
  "ExecutingRequests",
  "DispatchedRequests",
  "RejectedRequests",
  "TimedoutRequests",
  "CancelledRequests",
] as const;

const QUEUE_COLUMNS = ["PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "NextDispatchR"] as const;

function levels(flow: FlowControl): readonly (readonly unknown[])[] {
  return flow.levels.map((level) => {
    const executing = [...level.executing.values()].reduce((sum, e) => sum + e.requests, 0);
    const { counted, queues: set, config } = level;
    const counts = [counted.dispatched, counted.rejected, counted.timedOut, counted.cancelled];
    const isIdle = executing + set.waiting === 0;
    return [config.name, active(level).length, isIdle, false, set.waiting, executing, ...counts];
  });
}

function queues(flow: FlowControl): readonly (readonly unknown[])[] {
  return flow.levels.flatMap((level) =>
    active(level).map((q) => [level.config.name, q.index, q.waiting.length, q.executing, `${q.virtual}ms`]),
  );
}

function active({ queues: set }: Level) {
  return set.all().filter((q) => q.waiting.length > 0 || q.executing > 0);
}

function lines(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [columns, ...rows].map((row) => `${row.join(", ")}\n`).join("");
}
