import { closeSync, openSync, writeSync } from "node:fs";
import { systemClock } from "@causeway/foundation";

/** Writes a file that leaves its disk no byte. */
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

/**
 * Writes again and again, whatever comes of it, until `end`: a program that has ended for lack of space may serve again
 * with the few bytes that its end has left, until there is more to write. `ended`: no write is under way any more.
 */
export function keepWriting(write: (name: string) => Promise<void>): { end: () => void; ended: Promise<void> } {
  let isWanted = true;
  const writing = async (): Promise<void> => {
    for (let i = 0; isWanted; i++) {
      await write(`more-${i}`).catch(() => {});
      await systemClock.sleep(200);
    }
  };
  return { end: () => (isWanted = false), ended: writing() };
}
