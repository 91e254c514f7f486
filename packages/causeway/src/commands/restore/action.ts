import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { restoreApiServer } from "@causeway/apiserver";
import { makeStateFolder } from "../../composition/folder.ts";
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
  const restoring = restoreApiServer(file, { dir: isUp ? join(state, "apiserver") : state });
  const { revision } = await restoring.catch((error: unknown) => {
    if (isNew) rmSync(state, { recursive: true, force: true });
    throw error;
  });
  const start = isUp ? "causeway up" : "causeway apiserver";
  process.stdout.write(`${state}: restored at revision ${revision}. Start it: ${start} --state ${state}\n`);
}
