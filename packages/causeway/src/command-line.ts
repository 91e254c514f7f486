import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { exitStatus, exitStatusOf, renderError } from "./terminal/report-error.ts";

/** Milliseconds after a stop signal at which the process exits in any case: the state on disk is always consistent. */
const grace = 1_700;

/** Runs the command line of this process until it is done, or a signal stops it; sets the exit code. */
export async function runCommandLine(program: (signal: AbortSignal) => CommandUnknownOpts): Promise<void> {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    const code = signal === "SIGINT" ? exitStatus.interrupted : 143;
    if (stopping.signal.aborted) process.exit(code);
    stopping.abort(new Error(`stopped by ${signal}`));
    process.exitCode = code;
    setTimeout(() => process.exit(code), grace).unref();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    await program(stopping.signal).parseAsync(withShortVersion(process.argv));
    if (!stopping.signal.aborted) process.exitCode ??= 0;
  } catch (error) {
    if (!stopping.signal.aborted) {
      process.stderr.write(renderError(error));
      process.exitCode = exitStatusOf(error);
    }
  }
  setTimeout(() => process.exit(), grace).unref();
}

/** `causeway -v` is `causeway --version`, as of node and npm; after a command, `-v` is the level of the log. */
export function withShortVersion(argv: readonly string[]): string[] {
  return argv.length === 3 && argv[2] === "-v" ? [...argv.slice(0, 2), "--version"] : [...argv];
}
