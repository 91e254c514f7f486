import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** In the state folder, until the operator confirms that the restored state may delete. */
const MARK = "restored.json";

const UNCONFIRMED =
  "and may be older than what is in the cloud; compare both, then start causeway up with --confirm-restore";

/** Marks a state folder that is made from a backup: what was created since then is not in it. */
export function markRestored(dir: string, { from, now }: { readonly from: string; readonly now: number }): void {
  writeFileSync(join(dir, MARK), `${JSON.stringify({ from, at: new Date(now).toISOString() })}\n`, { mode: 0o600 });
}

/** The operator has compared the state with the cloud. */
export function confirmRestored(dir: string): void {
  rmSync(join(dir, MARK), { force: true });
}

/** Why nothing may be deleted in the cloud; undefined: it may. A mark that cannot be read holds, too. */
export function restoredHold(dir: string): string | undefined {
  try {
    const { from, at } = JSON.parse(readFileSync(join(dir, MARK), "utf8")) as Record<string, unknown>;
    return `the state was restored from ${String(from)} at ${String(at)}, ${UNCONFIRMED}`;
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isAbsent ? undefined : `the state was restored from a backup, ${UNCONFIRMED}`;
  }
}
