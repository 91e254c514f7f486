import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InputError, messageOf } from "@causeway/foundation";

/**
 * Creates a state folder, mode 0700, with the folders above it.
 * @throws STATE_NOT_WRITABLE
 */
export function makeStateFolder(dir: string): void {
  try {
    makeFolder(dir);
    chmodSync(dir, 0o700);
  } catch (cause) {
    const isFile =
      (cause as NodeJS.ErrnoException).code === "EEXIST" || (cause as NodeJS.ErrnoException).code === "ENOTDIR";
    const why = isFile ? "a file is in its place" : messageOf(cause);
    throw new InputError("STATE_NOT_WRITABLE", `the state folder ${dir} cannot be written: ${why}`, {
      hint: "Choose another with --state DIR.",
      cause,
    });
  }
}

/**
 * Creates a folder and those above it, of the mode. One level at a time: a recursive mkdir of Node never returns where
 * a file system has no such folder and creates none, as /proc.
 * @throws what the file system throws
 */
export function makeFolder(dir: string, mode = 0o700): void {
  const path = resolve(dir);
  if (existsSync(path)) return mkdirOver(path);
  makeFolder(dirname(path), mode);
  mkdirSync(path, { mode });
}

/** What exists is a folder, or the error of a mkdir where there is a file. */
function mkdirOver(dir: string): void {
  if (!existsSync(`${dir}/.`)) mkdirSync(dir);
}
