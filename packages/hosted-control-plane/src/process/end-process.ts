import type { Clock } from "@causeway/foundation";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";

const LOOK = 20;

/** Ends a process: SIGTERM, and SIGKILL after `grace` ms. Resolves when it is gone. */
export async function endProcess(
  given: ProcessIdentity,
  { clock, grace }: { clock: Clock; grace: number },
): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const until = clock.now() + grace;
    if (!send(given, signal)) return;
    while (isAlive(given) && clock.now() < until) await clock.sleep(LOOK);
    if (!isAlive(given)) return;
  }
}

function send(given: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(given)) return false;
  try {
    process.kill(given.pid, signal);
    return true;
  } catch {
    return false;
  }
}
