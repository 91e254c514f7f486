/** Ways to cut a system off from its cloud at a chosen call. */
import type { CallRecord, Fault } from "@causeway/simulator";
import type { Started } from "./processes.ts";
import type { Stage } from "./stage.ts";

/** "before": the service never saw the call; "after": it was executed, and the caller died before the answer came. */
export type When = "before" | "after";

export interface Cut {
  readonly when: When;
  /** Is called for each call, with its number since the cut was set (from 1). */
  readonly at: (call: CallRecord, number: number) => boolean;
}

/**
 * Kills the process (SIGKILL) at the first call that `cut` picks. Resolves to that call; undefined while there is none.
 */
export function killAt(stage: Stage, system: Started, cut: Cut): { readonly call: CallRecord | undefined } {
  const killed: { call: CallRecord | undefined } = { call: undefined };
  let number = 0;
  const kill = () => void system.child.kill("SIGKILL");
  stage.simulator.setFaults((call) => {
    if (killed.call) return undefined;
    number += 1;
    if (!cut.at(call, number)) return undefined;
    killed.call = call;
    if (cut.when === "before") kill();
    return cut.when === "before" ? { when: "before", cut: true } : dyingBeforeTheAnswer(kill);
  });
  return killed;
}

/**
 * The status is read when the service has done its work and before a byte of the answer is written: that is the
 * instant.
 */
function dyingBeforeTheAnswer(kill: () => void): Fault {
  return {
    when: "after",
    get status() {
      kill();
      return 504;
    },
  };
}

/** Executes the calls that `at` picks and loses their answers: the connection breaks. */
export function loseAnswers(stage: Stage, at: (call: CallRecord, number: number) => boolean): CallRecord[] {
  const lost: CallRecord[] = [];
  let number = 0;
  stage.simulator.setFaults((call) => {
    number += 1;
    if (!at(call, number)) return undefined;
    lost.push(call);
    return { when: "after", cut: true };
  });
  return lost;
}
