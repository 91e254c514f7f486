import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { join, resolve } from "node:path";

/**
 * Milliseconds that a test waits for what is to come: a green run never needs them, and how fast the machine is must
 * not decide.
 */
export const TIMEOUT = 300_000;
export const root = resolve(import.meta.dirname, "../..");
const sources = resolve(root, "packages/causeway/src");

export interface Started {
  readonly child: ChildProcess;
  /** Everything it has printed, both streams. */
  output(): string;
  /**
   * Resolves with the output when it matches; rejects when the process ends or the time (ms, default five minutes) is
   * up.
   */
  until(pattern: RegExp, milliseconds?: number): Promise<string>;
  /** The exit code. */
  readonly ended: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `causeway ARGS…` with the Node that runs the test; `installed` as npm links the command, with what the install
 * left to start from.
 */
export function causeway(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; installed?: boolean } = {},
): Started {
  const program = options.installed
    ? ["/bin/sh", join(sources, "launch.sh")]
    : [process.execPath, "--max-semi-space-size=4", join(sources, "start.js")];
  const [file = "", ...first] = program;
  return startProgram(file, [...first, ...args], options);
}

/** Starts a program; `withInput`: what is written to `child.stdin` is its input. */
export function startProgram(
  file: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; withInput?: boolean } = {},
): Started {
  const child = spawn(file, args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, NO_COLOR: "1", ...options.env },
    stdio: [options.withInput ? "pipe" : "ignore", "pipe", "pipe"],
  });
  let text = "";
  const listeners = new Set<() => void>();
  const take = (chunk: Buffer) => {
    text += chunk.toString("utf8");
    for (const listener of listeners) listener();
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  const ended = new Promise<number | null>((done) => child.on("close", done));
  return {
    child,
    output: () => text,
    ended,
    until(pattern, milliseconds = TIMEOUT) {
      return new Promise((done, reject) => {
        const finish = (act: () => void) => {
          clearTimeout(timer);
          listeners.delete(check);
          act();
        };
        const check = () => pattern.test(text) && finish(() => done(text));
        const timer = setTimeout(
          () => finish(() => reject(new Error(`no ${pattern} within ${milliseconds} ms; it printed:\n${text}`))),
          milliseconds,
        );
        listeners.add(check);
        const close = (code: number | null) => {
          if (pattern.test(text)) done(text);
          else reject(new Error(`ended with ${code} before ${pattern}; it printed:\n${text}`));
        };
        void ended.then((code) => finish(() => close(code)));
        check();
      });
    },
    async stop(signal = "SIGINT") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}

/** Runs stock kubectl on a kubeconfig; throws with what it said when it fails. */
export function kubectl(kubeconfig: string, ...args: readonly string[]): string {
  const run = spawnSync("kubectl", ["--kubeconfig", kubeconfig, ...args], {
    encoding: "utf8",
    env: { ...process.env, HOME: "/nonexistent" },
    // All pods of a cloud are more than the default of a megabyte, after which the rest is cut off.
    maxBuffer: 64 * 1024 * 1024,
  });
  if (run.status !== 0) throw new Error(`kubectl ${args.join(" ")}: ${run.stderr}`);
  return run.stdout;
}

/** Tries until it gives something other than undefined or false; the last error is the one thrown. */
export async function eventually<T>(
  milliseconds: number,
  attempt: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + milliseconds;
  let last: unknown = new Error(`not within ${milliseconds} ms`);
  while (Date.now() < deadline) {
    try {
      const result = await attempt();
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      last = error;
    }
    await new Promise((done) => setTimeout(done, 250));
  }
  throw last;
}
