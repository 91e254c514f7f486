import { existsSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fillCleanRoot, giveToUser, rightsForRoot, shellInRoot, USER_HOME } from "./clean-root.ts";

/** Where a page's commands run. */
export interface Place {
  /** The home folder, as the tests see it. */
  readonly home: string;
  /** The name that a file below the home folder has for the commands. */
  readonly inside: (file: string) => string;
  readonly environment: NodeJS.ProcessEnv;
  /** The program and its arguments that run a script of bash in a folder below the home folder. */
  readonly shell: (script: string, folder: string) => readonly [string, readonly string[]];
  /** Gives what tests made below the home folder to the user who runs the commands. */
  readonly give: (folder: string) => void;
  readonly remove: () => Promise<void>;
}

/** The program without which no page can be run; undefined where all are there. */
export function reasonAgainst(): string | undefined {
  return ["bash", "git", "npm", "kubectl"].find((program) => programOutside(program) === undefined);
}

/** A clean root file system where the tests have the rights to make one, otherwise an empty home folder. */
export async function makePlace(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), "stranger-"));
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true });
  try {
    return rightsForRoot() ? cleanRoot(dir, remove) : emptyHome(dir, remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

function cleanRoot(dir: string, remove: Place["remove"]): Place {
  const environment = fillCleanRoot(dir, { programs: ["node", "kubectl"].map(required), npm: required("npm") });
  const home = join(dir, USER_HOME);
  return {
    home,
    inside: (file) => join(USER_HOME, file),
    environment,
    shell: shellInRoot(dir, required("chroot")),
    give: (folder) => giveToUser(join(home, folder)),
    remove,
  };
}

/** Without a root of its own: nothing in the environment but a PATH on which npm is. */
function emptyHome(home: string, remove: Place["remove"]): Place {
  const environment: NodeJS.ProcessEnv = {
    PATH: pathOutside(),
    HOME: home,
    NO_COLOR: "1",
    npm_config_cache: process.env["npm_config_cache"] ?? join(homedir(), ".npm"),
  };
  return {
    home,
    inside: (file) => join(home, file),
    environment,
    shell: (script, folder) => ["bash", ["-c", 'cd "$0" && eval "$1"', join(home, folder), script]],
    give: () => undefined,
    remove,
  };
}

/** PATH without the project's own programs: a stranger's npm and Node may be older than the project's. */
function pathOutside(): string {
  const parts = (process.env["PATH"] ?? "").split(delimiter);
  return parts.filter((part) => !part.includes("node_modules")).join(delimiter);
}

function programOutside(name: string): string | undefined {
  const files = pathOutside()
    .split(delimiter)
    .map((part) => join(part, name));
  return files.find((file) => existsSync(file));
}

function required(name: string): string {
  const file = programOutside(name);
  if (file === undefined) throw new Error(`no ${name} is on PATH: install it`);
  return file;
}
