import { closeSync, fsyncSync, openSync } from "node:fs";

/**
 * Has what was written to a file, or which names a folder has, on disk when it returns. Throws what open(2) and
 * fsync(2) refuse.
 */
export function sync(path: string): void {
  const opened = openSync(path, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
