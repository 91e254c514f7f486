import { statSync } from "node:fs";
import { messageOf, type Clock, type Log } from "@causeway/foundation";

const INTERVAL = 60_000;

/** A file outside the state folder, such as a certificate that another program renews. */
export interface WatchedFile {
  readonly path: string;
  /**
   * The file is another than it was. What it throws is logged, and the file is read again when the file changes again.
   */
  readonly changed: () => void | Promise<void>;
}

/**
 * Reads files once a minute until the signal aborts. What it gives is called whenever there may be other files than
 * before: as long as there are none, nothing runs.
 */
export function watchFiles(
  files: () => readonly WatchedFile[],
  { clock, log }: { clock: Clock; log: Log },
  signal: AbortSignal,
): () => void {
  const seen = new Map<string, string>();
  let running = false;

  const check = ({ path, changed }: WatchedFile): void => {
    const [before, stamp] = [seen.get(path), stampOf(path)];
    if (before === stamp) return;
    seen.set(path, stamp);
    if (before === undefined) return;
    const used = (): void => log.info("a file was read again", { path });
    const failed = (error: unknown): void =>
      log.error("a changed file cannot be used; what it said before holds", { path, reason: messageOf(error) });
    try {
      const changing = changed();
      if (changing === undefined) used();
      else void changing.then(used, failed);
    } catch (error) {
      failed(error);
    }
  };

  const run = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(INTERVAL, signal);
      files().forEach(check);
    }
  };

  return () => {
    const now = files();
    for (const file of now) if (!seen.has(file.path)) check(file);
    if (running || now.length === 0) return;
    running = true;
    run().catch(() => {});
  };
}

function stampOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "absent";
  }
}
