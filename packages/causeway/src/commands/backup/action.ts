import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { InputError, silentLog } from "@causeway/foundation";
import { startApiServer, type Backup } from "@causeway/apiserver";
import { callAdmin } from "../../composition/admin-socket.ts";
import { authenticators } from "../../workloads/authenticators.ts";
import { workerProgram } from "../../workloads/program.ts";
import type { BackupOptions } from "./command.ts";

/**
 * Writes a backup: by the program that runs on the state folder, or from the folder itself when none runs.
 * @throws STATE_NOT_FOUND, STATE_LOCKED, ADMIN_CALL_FAILED, and what `ApiServer.backup` throws
 */
export async function backup(file: string, { state }: BackupOptions, signal: AbortSignal): Promise<void> {
  const dir = apiServerFolder(state);
  const target = resolve(file);
  const written = ((await callAdmin(state, "backup", { file: target }, signal)) ??
    (await fromFolder(dir, target))) as Backup;
  for (const cluster of written.missing ?? []) {
    process.stderr.write(`warning: cluster ${cluster} is not in the backup: its database cannot be read\n`);
  }
  process.stdout.write(`${target}: revision ${written.revision}, ${written.bytes} bytes\n`);
}

async function fromFolder(dir: string, file: string): Promise<Backup> {
  const isolation = { program: workerProgram() };
  const server = await startApiServer({ dir, isolation, authenticators, log: silentLog });
  try {
    return await server.backup(file);
  } finally {
    await server.close();
  }
}

/** `causeway up` keeps the API server in a folder of its own. */
function apiServerFolder(state: string): string {
  const inner = join(state, "apiserver");
  if (existsSync(inner)) return inner;
  if (existsSync(state)) return state;
  throw new InputError("STATE_NOT_FOUND", `there is no state folder ${state}`, {
    hint: "Name that of `causeway up` or `causeway apiserver` with --state DIR.",
  });
}
