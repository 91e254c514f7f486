import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTextFile } from "@causeway/foundation";
import { usableCredential, type Credential } from "./plan-credential.ts";

const LARGEST = 64 * 1024;

/** The file that keeps the token of one cloud and credential: mode 0600, in a folder of mode 0700. */
export interface TokenFile {
  readonly path: string;
  /** Undefined when there is none, it has ended, or others may read or have written it. */
  read(now: number): Credential | undefined;
  /** Replaces it as a whole. Throws what the file system throws. */
  write(credential: Credential): void;
}

/**
 * The file in `folder` for what `fingerprint` describes, whose digest is its name. The folder is made by the first
 * write.
 */
export function tokenFile(folder: string, fingerprint: string): TokenFile {
  const path = join(folder, `${createHash("sha256").update(fingerprint).digest("hex")}.json`);
  return {
    path,
    read(now) {
      try {
        const stat = lstatSync(path);
        const own = process.getuid === undefined || stat.uid === process.getuid();
        if (!stat.isFile() || !own || (stat.mode & 0o077) !== 0) return undefined;
        return usableCredential(readTextFile(path, LARGEST), now);
      } catch {
        return undefined;
      }
    },
    write(credential) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o700);
      const half = `${path}.${process.pid}`;
      try {
        writeFileSync(half, JSON.stringify(credential), { mode: 0o600, flag: "wx" });
        renameSync(half, path);
      } catch (error) {
        rmSync(half, { force: true });
        throw error;
      }
    },
  };
}
