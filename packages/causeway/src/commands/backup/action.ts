import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { InputError, messageOf, silentLog } from "@causeway/foundation";
import { startApiServer, type Backup } from "@causeway/apiserver";
import { callAdmin } from "../../composition/admin-socket.ts";
import { authenticators } from "../../workloads/authenticators.ts";
import { workerProgram } from "../../workloads/program.ts";
import type { BackupOptions } from "./command.ts";

/**
 * Writes a backup: by the program that runs on the state folder, or from the folder itself when none runs.
 * @throws STATE_NOT_FOUND, BACKUP_FILE_UNWRITABLE, STATE_LOCKED, ADMIN_CALL_FAILED, and what `ApiServer.backup` throws
 */
export async function backup(file: string, { state }: BackupOptions, signal: AbortSignal): Promise<void> {
  const dir = apiServerFolder(state);
  const target = resolve(file);
  requireWritable(target);
  const written = ((await callAdmin(state, "backup", { file: target }, signal)) ??
    (await fromFolder(dir, target))) as Backup;
  for (const cluster of written.missing ?? []) {
    process.stderr.write(`warning: cluster ${cluster} is not in the backup: its database cannot be read\n`);
  }
  process.stdout.write(`${target}: revision ${written.revision}, ${written.bytes} bytes\n`);
}

/** Before a backup of minutes is made: the file is written next to its place first, and then renamed. */
function requireWritable(file: string): void {
  const probe = `${file}.${process.pid}.probe`;
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
    closeSync(openSync(probe, "wx", 0o600));
    rmSync(probe);
  } catch (cause) {
    throw new InputError("BACKUP_FILE_UNWRITABLE", `${file} cannot be written: ${messageOf(cause)}`, {
      cause,
      hint: "Specify the path of a file in a folder that exists and that this user may write.",
    });
  }
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
