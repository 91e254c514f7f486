import { chmodSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CausewayError, messageOf } from "@causeway/foundation";
import { STATE_FILE } from "./index.ts";
import { sync } from "./sync.ts";

/**
 * Small files of a server's state folder: folders 0700, files 0600, replaced as a whole. Keeps them in memory without a
 * folder.
 */
export interface StateFiles {
  read(name: string): string | undefined;
  /** Another value for each content that a file gets, in less time than it takes to read; undefined: there is none. */
  stamp(name: string): string | undefined;
  /** On disk when it returns; what is there already is not written again. Throws STATE_WRITE_FAILED. */
  write(name: string, content: string): void;
  /**
   * Several of one folder, in this order: a crash leaves those before some point. All are on disk when it returns, with
   * one sync less for each but one.
   */
  writeAll(files: readonly (readonly [name: string, content: string])[]): void;
  /** The names right below a folder. */
  names(folder: string): readonly string[];
  remove(folder: string): void;
  /** The names of all files, with their folders; not the database. */
  all(): readonly string[];
}

/** The files below a folder; in memory if it is undefined. */
export function stateFiles(dir: string | undefined): StateFiles {
  return dir === undefined ? inMemory() : onDisk(dir);
}

/** A check before would not help: other worker processes remove clusters of theirs meanwhile. */
function unlessAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

function onDisk(dir: string): StateFiles {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const read = (name: string): string | undefined => unlessAbsent(() => readFileSync(join(dir, name), "utf8"));
  const writeAll: StateFiles["writeAll"] = (files) => {
    const changed = files.filter(([name, content]) => read(name) !== content);
    try {
      replace(changed.map(([name, content]) => [join(dir, name), content]));
    } catch (cause) {
      throw new CausewayError(
        "STATE_WRITE_FAILED",
        `${changed.map(([name]) => name).join(", ")} could not be written: ${messageOf(cause)}`,
        {
          cause,
          hint: "Free space on the disk of the state folder and check that it is writable.",
        },
      );
    }
  };
  // Each content is a file of its own, which takes the name.
  const stamp = (name: string): string | undefined =>
    unlessAbsent(() => {
      const { ino, mtimeNs } = statSync(join(dir, name), { bigint: true });
      return `${ino} ${mtimeNs}`;
    });
  return {
    read,
    stamp,
    write: (name, content) => writeAll([[name, content]]),
    writeAll,
    names: (folder) => unlessAbsent(() => readdirSync(join(dir, folder))) ?? [],
    remove(folder) {
      rmSync(join(dir, folder), { recursive: true, force: true });
    },
    all() {
      const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
      const kept = entries.filter(({ name }) => !name.startsWith(STATE_FILE) && !name.endsWith(".new"));
      return kept.map((e) => relative(dir, join(e.parentPath, e.name))).toSorted();
    },
  };
}

/**
 * Each file is synced before it takes the name, and the folder after: a crash leaves the old content or the new. All
 * are written before the first is synced, so that the file system's journal takes them in together.
 */
function replace(files: readonly (readonly [path: string, content: string])[]): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, content, { mode: 0o600 });
  }
  for (const [path] of files) sync(`${path}.new`);
  for (const [path] of files) renameSync(`${path}.new`, path);
  for (const folder of new Set(files.map(([path]) => dirname(path)))) sync(folder);
}

function inMemory(): StateFiles {
  const files = new Map<string, string>();
  return {
    read: (name) => files.get(name),
    stamp: (name) => files.get(name),
    write: (name, content) => void files.set(name, content),
    writeAll: (all) => all.forEach(([name, content]) => files.set(name, content)),
    names: (folder) => {
      const below = [...files.keys()].filter((n) => n.startsWith(`${folder}/`));
      return [...new Set(below.map((n) => n.slice(folder.length + 1).split("/")[0] ?? ""))];
    },
    remove: (folder) => {
      for (const name of files.keys()) if (name.startsWith(`${folder}/`)) files.delete(name);
    },
    all: () => [...files.keys()].toSorted(),
  };
}
