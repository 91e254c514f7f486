import type { Cluster } from "@causeway/api";
import type { HookCalls } from "../runtime/calls.ts";
import type { LifecycleHook } from "../runtime/hooks.ts";
import type { CurrentState } from "./model.ts";
import { dueHooks, holdOf, noHooks, type DueHook, type Hold, type HookState } from "./hooks.ts";
import type { Upgrades } from "./upgrades.ts";

interface HookAnswers {
  readonly state: HookState;
  readonly hold: Hold;
}

interface Question {
  readonly cluster: Cluster;
  readonly due: readonly DueHook[];
}

/** Asks the handlers of the hooks that are due, and says what is held back. */
export async function askHooks(
  calls: HookCalls,
  { cluster, due }: Question,
  signal: AbortSignal,
): Promise<HookAnswers> {
  let state = noHooks;
  let hold: Hold = {};
  for (const { hook, more } of due) {
    const verdict = await calls.ask({ hook, cluster, more }, signal);
    if (verdict.outcome === "passed") {
      state = { ...state, ...marksAfter(calls, hook, state) };
      continue;
    }
    const line = { hook, message: verdict.message };
    const until = Math.min(state.until ?? Infinity, verdict.until);
    hold = { ...hold, ...holdOf(hook) };
    state =
      verdict.outcome === "blocked"
        ? { ...state, blocking: [...state.blocking, line], until }
        : { ...state, failed: [...state.failed, line], until };
  }
  return { state, hold };
}

/** Asks for a cluster that is there. */
export function askForUpgrade(
  calls: HookCalls,
  { cluster, current, upgrades }: { cluster: Cluster; current: CurrentState; upgrades: Upgrades },
  signal: AbortSignal,
): Promise<HookAnswers> {
  return askHooks(calls, { cluster, due: dueHooks(cluster, current, upgrades) }, signal);
}

/** What a hook that has passed leaves to be called later, and that it need not be called again. */
function marksAfter(
  calls: HookCalls,
  hook: LifecycleHook,
  { add, remove }: HookState,
): Partial<Pick<HookState, "add" | "remove" | "okToDelete">> {
  switch (hook) {
    case "BeforeClusterCreate":
      return calls.concerns("AfterControlPlaneInitialized") ? { add: [...add, "AfterControlPlaneInitialized"] } : {};
    case "BeforeClusterUpgrade":
      return calls.concerns("BeforeClusterUpgrade", "AfterControlPlaneUpgrade", "AfterClusterUpgrade")
        ? { add: [...add, "AfterControlPlaneUpgrade", "AfterClusterUpgrade"] }
        : {};
    case "BeforeClusterDelete":
      return { okToDelete: true };
    default:
      return { remove: [...remove, hook] };
  }
}
