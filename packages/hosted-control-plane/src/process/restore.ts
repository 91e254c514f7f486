import { existsSync } from "node:fs";
import { join } from "node:path";
import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { RestoreSpec } from "../backup-spec.ts";
import type { Backups } from "../backup/backups.ts";
import type { Keyspace } from "../backup/datastore.ts";
import { secretNamed } from "../backup/secrets.ts";
import { AFTER_PERMANENT, isPermanent } from "../backup/restore.ts";
import { notOffered } from "../backup/store.ts";
import { readEtcdAuthority } from "./etcd-authority.ts";
import { writeOnce } from "./files.ts";
import type { Ports } from "./ports.ts";

/** In the folder of a control plane: its data was restored, and never is again. */
const MARK = "restored";

const FIRST_DELAY = 500;
const LONGEST_DELAY = 60_000;

/** What a restore works with. */
export interface RestoreWith {
  readonly dir: string;
  /** Undefined: none is restored here. */
  readonly backups: Backups | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Its etcd, by our own certificates; undefined: it has no authority yet. */
export function processKeyspace(dir: string, ports: Ports): Keyspace | undefined {
  const authority = readEtcdAuthority(join(dir, "pki"));
  if (authority === undefined) return undefined;
  const access = { addresses: ["127.0.0.1"], port: ports.etcd, serverName: "localhost", authority, password: "" };
  return { access, prefix: "/" };
}

/** Its data is there: it is not from a backup, or was restored. */
export function isRestoredIn(dir: string, restore: RestoreSpec | undefined): boolean {
  return restore === undefined || existsSync(join(dir, MARK));
}

/**
 * The key of encryption at rest of the backup, before another one is made.
 * @throws BACKUPS_NOT_OFFERED, BACKUP_…
 */
export async function restoreEncryption(
  { dir, backups }: RestoreWith,
  restore: RestoreSpec,
  signal: AbortSignal,
): Promise<void> {
  const file = join(dir, "encryption.json");
  if (existsSync(file)) return;
  if (backups === undefined) throw notOffered();
  const text = secretNamed(await backups.secrets(restore, signal), "encryption");
  writeOnce(file, () => text);
}

/**
 * Fills etcd, which runs and has no API server yet, and tries it again until it is done: an attempt that was killed is
 * begun again, and one that was done is not, since etcd has a mark of its own. A backup that cannot be restored is read
 * twice an hour at most.
 * @param failed is given why an attempt failed
 */
export async function restoreUntilDone(
  using: RestoreWith,
  { restore, keyspace }: { restore: RestoreSpec; keyspace: () => Keyspace | undefined },
  failed: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { dir, backups, clock, log } = using;
  for (let delay = FIRST_DELAY; !signal.aborted; delay = Math.min(LONGEST_DELAY, delay * 2)) {
    try {
      const space = keyspace();
      if (backups === undefined) throw notOffered();
      if (space === undefined) throw new Error("etcd has no authority");
      await backups.restore(restore, space, signal);
      writeOnce(join(dir, MARK), () => `${restore.folder}\n`);
      log.info("the data of the control plane was restored from its backup", { folder: restore.folder });
      return;
    } catch (error) {
      if (signal.aborted) return;
      // etcd does not serve from its first moment on.
      if (!(error instanceof CausewayError && error.code === "PODS_ETCD_UNREACHABLE")) failed(sentenceOf(error));
      await clock.sleep(isPermanent(error) ? AFTER_PERMANENT : delay, signal).catch(() => {});
    }
  }
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof CausewayError)) return messageOf(error);
  return `${error.message}${error.hint === undefined ? "" : `. ${error.hint}`} (${error.code})`;
}
