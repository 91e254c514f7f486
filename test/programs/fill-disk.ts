/** A file that leaves its disk no byte. */
import { closeSync, openSync, writeSync } from "node:fs";

export function fillDisk(file: string): void {
  const open = openSync(file, "w");
  try {
    for (const size of [2 ** 20, 4096]) while (wrote(open, size));
  } finally {
    closeSync(open);
  }
}

function wrote(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) > 0;
  } catch {
    return false;
  }
}
