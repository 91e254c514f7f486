import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** In the state folder, until the operator confirms that the restored state may delete. */
const MARK = "restored.json";

const UNCONFIRMED = "and may be older than what is in the cloud; compare both, then start it with --confirm-restore";

/** What `causeway up` does not do while a restored state is not confirmed. */
export const HELD =
  "no server, volume, load balancer, floating IP, network, secret, backup or other whole resource is deleted";

/** Marks a state folder that is made from a backup: what was created since then is not in it. */
export function markRestored(dir: string, { from, now }: { readonly from: string; readonly now: number }): void {
  writeFileSync(join(dir, MARK), `${JSON.stringify({ from, at: new Date(now).toISOString() })}\n`, { mode: 0o600 });
}

/** The operator has compared the state with the cloud. */
export function confirmRestored(dir: string): void {
  rmSync(join(dir, MARK), { force: true });
}

/**
 * Why deletions are held, for the operator alone: it has a path. Undefined: they are not. A mark that cannot be read
 * holds, too.
 */
export function restoredHold(dir: string): string | undefined {
  try {
    const { from, at } = JSON.parse(readFileSync(join(dir, MARK), "utf8")) as Record<string, unknown>;
    return `the state was restored from ${String(from)} at ${String(at)}, ${UNCONFIRMED}`;
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isAbsent ? undefined : `the state was restored from a backup, ${UNCONFIRMED}`;
  }
}
