import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/** A program with its first arguments. */
export interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** What this process was started with. */
export interface Started {
  /** process.argv[1]. */
  readonly script: string | undefined;
  readonly execPath: string;
  /** PATH. */
  readonly path: string | undefined;
}

/**
 * How another program of this machine starts this command: by the `causeway` on PATH where that is this installation
 * (its link remains when a new version is installed), else by the launcher next to the script, else by Node.
 */
export function ownCommand({ script, execPath, path }: Started): OwnCommand {
  const real = script === undefined ? undefined : realOf(script);
  if (real === undefined) return { command: "causeway", args: [] };
  const launcher = join(dirname(real), "launch.sh");
  if (!isExecutable(launcher)) return { command: execPath, args: [real] };
  const installed = (path ?? "")
    .split(":")
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, "causeway"))
    .filter((file) => isExecutable(file) && realOf(file) === launcher);
  // npx puts the folder of the checkout first.
  const lasting = installed.find((file) => !file.includes("/node_modules/.bin/"));
  return { command: lasting ?? installed[0] ?? launcher, args: [] };
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
