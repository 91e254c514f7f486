import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Clock, Log } from "@causeway/foundation";
import { openProgramLog } from "./program-log.ts";
import { paths } from "./settings.ts";

/** A program of a machine; `name` is that of its log. */
export interface Program {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** All of its environment. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The shortest and the longest pause before a program that ended is started again, in milliseconds. */
const SHORTEST = 500;
const LONGEST = 30_000;
/** A program that ran so long, in milliseconds, has started well: the next pause is the shortest again. */
const SETTLED = 60_000;

/**
 * Keeps a program running until the signal aborts, as systemd does: what ends is started again, after growing pauses.
 * Its output is a file of bounded size.
 */
export async function keepRunning(
  program: Program,
  using: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = using;
  let pause = SHORTEST;
  while (!signal.aborted) {
    const started = clock.now();
    const ended = await runOnce(program, signal);
    if (signal.aborted) return;
    if (clock.now() - started >= SETTLED) pause = SHORTEST;
    log.warn("a program of the machine ended and starts again", { program: program.name, ended, pause });
    await clock.sleep(pause, signal).catch(() => {});
    pause = Math.min(pause * 2, LONGEST);
  }
}

/** Runs a program to its end; says how it ended. */
export function runOnce({ name, file, args, env }: Program, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const output = openProgramLog(join(paths.logs, `${name}.log`));
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env: env ?? process.env });
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    child.stdout.pipe(output, { end: false });
    child.stderr.pipe(output, { end: false });
    const done = (how: string) => {
      signal.removeEventListener("abort", stop);
      output.end();
      resolve(how);
    };
    child.once("error", (error) => done(error.message));
    child.once("close", (code, killed) => done(killed === null ? `exit code ${code}` : `signal ${killed}`));
    if (signal.aborted) stop();
  });
}
