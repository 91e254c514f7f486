import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Small files of a server's state folder: folders 0700, files 0600, replaced as a whole. Keeps them in memory without a folder. */
export interface StateFiles {
  read(name: string): string | undefined;
  write(name: string, content: string): void;
  /** The names right below a folder. */
  names(folder: string): readonly string[];
  remove(folder: string): void;
}

export function stateFiles(dir: string | undefined): StateFiles {
  return dir === undefined ? inMemory() : onDisk(dir);
}

function onDisk(dir: string): StateFiles {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  return {
    read(name) {
      const path = join(dir, name);
      return existsSync(path) ? readFileSync(path, "utf8") : undefined;
    },
    write(name, content) {
      const path = join(dir, name);
      mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.new`, content, { mode: 0o600, flush: true });
      renameSync(`${path}.new`, path);
    },
    names(folder) {
      const path = join(dir, folder);
      return existsSync(path) ? readdirSync(path) : [];
    },
    remove(folder) {
      rmSync(join(dir, folder), { recursive: true, force: true });
    },
  };
}

function inMemory(): StateFiles {
  const files = new Map<string, string>();
  return {
    read: (name) => files.get(name),
    write: (name, content) => void files.set(name, content),
    names: (folder) => {
      const below = [...files.keys()].filter((n) => n.startsWith(`${folder}/`));
      return [...new Set(below.map((n) => n.slice(folder.length + 1).split("/")[0] ?? ""))];
    },
    remove: (folder) => {
      for (const name of files.keys()) if (name.startsWith(`${folder}/`)) files.delete(name);
    },
  };
}
