import { makeStateFolder } from "./folder.ts";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, InputError } from "@causeway/foundation";

/** The version of the layout of a state folder. A newer one is refused, never guessed at. */
const layoutVersion = 1;

/** What a state folder says of itself, in state.json. */
interface StateFile {
  readonly version: number;
  /** "simulator", or "REGION/PROJECT" of the cloud that it belongs to. */
  readonly cloud?: string;
}

/** The state folder: data, keys and certificates, kept across restarts. Mode 0700, files 0600. */
export interface State {
  readonly dir: string;
  path(...names: string[]): string;
  /** Records the cloud, or refuses when the folder belongs to another: then a wrong clouds.yaml was given. */
  bindTo(cloud: string): void;
  /** Writes a file for the person, mode 0600, in one step. */
  write(name: string, content: string): string;
}

/**
 * Opens or makes a state folder.
 * @throws STATE_TOO_NEW, STATE_UNREADABLE, STATE_NOT_WRITABLE
 */
export function openState(dir: string): State {
  makeStateFolder(dir);
  const file = join(dir, "state.json");
  let content = readState(file);
  const write = (name: string, text: string) => {
    const path = join(dir, name);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return path;
  };
  const save = (next: StateFile) => {
    content = next;
    write("state.json", `${JSON.stringify(next, null, 2)}\n`);
  };
  if (!content) save({ version: layoutVersion });
  return {
    dir,
    path: (...names) => join(dir, ...names),
    write,
    bindTo(cloud) {
      if (content?.cloud === cloud) return;
      if (content?.cloud !== undefined) {
        throw new InputError(
          "STATE_OF_ANOTHER_CLOUD",
          `the state folder ${dir} belongs to ${content.cloud}, not to ${cloud}`,
          {
            hint: "Use the --cloud it was made with, or another folder with --state DIR.",
          },
        );
      }
      save({ version: layoutVersion, cloud });
    },
  };
}

function readState(file: string): StateFile | undefined {
  if (!existsSync(file)) return undefined;
  const parsed = parseState(file);
  if (parsed.version > layoutVersion) {
    throw new InputError(
      "STATE_TOO_NEW",
      `${file} was written by a newer Causeway (layout ${parsed.version}; this one knows ${layoutVersion})`,
      {
        hint: "Use that newer Causeway, or another folder with --state DIR. Nothing was changed.",
      },
    );
  }
  return parsed;
}

function parseState(file: string): StateFile {
  try {
    const parsed = JSON.parse(readFileSync(file, "utf8")) as Partial<StateFile>;
    if (typeof parsed.version === "number")
      return { version: parsed.version, ...(typeof parsed.cloud === "string" ? { cloud: parsed.cloud } : {}) };
  } catch (cause) {
    throw new InputError("STATE_UNREADABLE", `${file} cannot be read: ${messageOf(cause)}`, {
      hint: "Restore it from a backup, or choose another folder with --state DIR.",
      cause,
    });
  }
  throw new InputError("STATE_UNREADABLE", `${file} is not a state file`, {
    hint: "Choose another folder with --state DIR.",
  });
}
