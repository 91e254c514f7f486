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
  makeStateFolder(state);
  const isUp = options.for === "up";
  const { revision } = await restoreApiServer(file, { dir: isUp ? join(state, "apiserver") : state });
  const start = isUp ? "causeway up" : "causeway apiserver";
  process.stdout.write(`${state}: restored at revision ${revision}. Start it: ${start} --state ${state}\n`);
}
