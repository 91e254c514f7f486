import { statSync } from "node:fs";
import type { Clock } from "@causeway/foundation";

const INTERVAL = 60_000;

export interface WatchedFile {
  readonly path: string;
  /** The file is another than it was. What it throws is for the caller to tell. */
  changed(): void;
}

/** Looks at files once a minute until the signal aborts; costs nothing when there are none. */
export function watchFiles(files: () => readonly WatchedFile[], clock: Clock, signal: AbortSignal): void {
  const seen = new Map(files().map(({ path }) => [path, stampOf(path)]));
  const look = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(INTERVAL, signal);
      for (const { path, changed } of files()) {
        const stamp = stampOf(path);
        const before = seen.get(path);
        seen.set(path, stamp);
        if (stamp !== before) changed();
      }
    }
  };
  look().catch(() => {});
}

function stampOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "absent";
  }
}
