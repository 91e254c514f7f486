import { closeSync, openSync, readSync } from "node:fs";
import { LimitExceeded } from "./bounded.ts";

/** Configuration files, kubeconfigs and certificates are a few kilobytes. */
const MOST = 16 * 1024 * 1024;
const PIECE = 64 * 1024;

/**
 * The text of a configuration file. Throws what open(2) and read(2) throw, and LimitExceeded when it is larger than
 * `limit` bytes: what is named as a file may be a device or a pipe without an end.
 */
export function readTextFile(path: string, limit = MOST): string {
  const file = openSync(path, "r");
  try {
    const pieces: Buffer[] = [];
    for (let size = 0; ;) {
      const piece = Buffer.allocUnsafe(PIECE);
      const length = readSync(file, piece);
      if (length === 0) return Buffer.concat(pieces, size).toString("utf8");
      size += length;
      if (size > limit) throw new LimitExceeded("bytes", limit);
      pieces.push(piece.subarray(0, length));
    }
  } finally {
    closeSync(file);
  }
}
