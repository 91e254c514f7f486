import { existsSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { restoreApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import { makeStateFolder } from "../../composition/folder.ts";
import { confirmRestored, HELD, markRestored, restoredHold } from "../../composition/restored.ts";
import type { RestoreOptions } from "./command.ts";

/**
 * Makes a state folder from a backup.
 * @throws STATE_NOT_WRITABLE, and what `restoreApiServer` throws
 */
export async function restore(file: string, options: RestoreOptions): Promise<void> {
  const { state } = options;
  const isNew = !existsSync(state);
  makeStateFolder(state);
  const isUp = options.for === "up";
  const wasHeld = restoredHold(state) !== undefined;
  if (isUp) markRestored(state, { from: file, now: systemClock.now() });
  const restoring = restoreApiServer(file, { dir: isUp ? join(state, "apiserver") : state });
  const { revision } = await restoring.catch((error: unknown) => {
    if (isUp && !wasHeld) confirmRestored(state);
    if (isNew) removeEmpty(state);
    throw error;
  });
  const start = isUp ? "causeway up" : "causeway apiserver";
  process.stdout.write(`${state}: restored at revision ${revision}. Start it: ${start} --state ${state}\n`);
  if (isUp)
    process.stdout.write(
      `Until causeway up is started with --confirm-restore, ${HELD}: compare it with the cloud first.\n`,
    );
}

/** Another process may have filled the folder meanwhile: then it remains. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty, or gone.
  }
}
