import { CausewayError, isAborted, type Clock } from "@causeway/foundation";
import type { ServerProblem } from "@causeway/apiserver";

/** How long a problem may last before an unattended run ends, and how often it is checked, in milliseconds. */
const REPORT_AFTER = 5_000;
const INTERVAL = 500;

/** Where problems come from, and what becomes of them. */
export interface ProblemsOptions {
  /** What the API server reports now. */
  readonly problems: () => readonly ServerProblem[];
  readonly clock: Clock;
  readonly show: (line: string) => void;
  /**
   * Unattended: end with an error after so many milliseconds, or after a few seconds of a problem that does not fix
   * itself.
   */
  readonly timeout?: number;
}

/**
 * Shows each problem that the API server reports, once, until the signal aborts.
 * @throws the problem's code, or DEMO_TIMEOUT, with `timeout`
 */
export async function followProblems(options: ProblemsOptions, signal: AbortSignal): Promise<void> {
  const { problems, clock, show, timeout } = options;
  const end = timeout === undefined ? Infinity : clock.now() + timeout;
  let shown: string | undefined;
  let since = clock.now();
  while (!signal.aborted) {
    const [problem] = problems();
    const now = clock.now();
    if (problem?.code !== shown) {
      shown = problem?.code;
      since = now;
      if (problem) show(`API server: ${problem.message}. ${problem.hint} (${problem.code})`);
    }
    // A worker that is stuck is restarted by itself.
    const isDefinite = problem !== undefined && problem.check !== "workers";
    if (timeout !== undefined && isDefinite && now - since >= REPORT_AFTER) {
      throw new CausewayError(problem.code, problem.message, { hint: problem.hint });
    }
    if (now >= end) throw late(timeout ?? 0);
    await clock.sleep(INTERVAL, signal).catch((error: unknown) => {
      if (!isAborted(error) && !signal.aborted) throw error;
    });
  }
}

function late(timeout: number): CausewayError {
  return new CausewayError("DEMO_TIMEOUT", `the demo was not ready within ${timeout / 1000} s`, {
    hint: "The lines above say what it waits for. Give it longer with --timeout SECONDS; what was made is kept.",
  });
}
