import { CausewayError, systemClock } from "@causeway/foundation";
import { ownName } from "../terminal/own-name.ts";

const PAUSE = 500;

/** What a command waits for, and the error when `timeout` seconds are over. */
export interface WaitGoal {
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly code: string;
  readonly namespace: string;
  readonly name: string;
}

/** Reads twice a second until `check` returns undefined; else it says what is missing. Throws `code` after the time. */
export async function waitUntil(check: () => Promise<string | undefined>, waiting: WaitGoal): Promise<void> {
  const { timeout, signal, code, namespace, name } = waiting;
  const end = systemClock.now() + timeout * 1000;
  for (;;) {
    const missing = await check();
    if (missing === undefined) return;
    if (systemClock.now() > end) {
      throw new CausewayError(code, `cluster ${namespace}/${name} is not done after ${timeout} s: ${missing}`, {
        hint: `See what it waits for: ${ownName()} describe cluster ${name} -n ${namespace}`,
      });
    }
    await systemClock.sleep(PAUSE, signal);
  }
}
