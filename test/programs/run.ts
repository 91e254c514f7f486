/** Programs as children of the test: never waited for in a way that holds up a server in this process. */
import { spawn, type ChildProcess } from "node:child_process";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Milliseconds after which it is killed; five minutes unless given. */
  readonly timeout?: number;
}

/** Runs a program to its end. */
export async function execute(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const running = launch(file, args, options);
  const timer = setTimeout(() => running.child.kill("SIGKILL"), options.timeout ?? 300_000);
  try {
    return await running.ended;
  } finally {
    clearTimeout(timer);
  }
}

/** A program that continues next to the test. */
export interface RunningProgram {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** All it has printed so far, both streams. */
  output(): string;
  /** Resolves with the output when it matches; rejects when the program has ended or the time (ms) is up. */
  until(pattern: RegExp, milliseconds?: number): Promise<string>;
  write(text: string): void;
  stop(): Promise<void>;
}

export function launch(file: string, args: readonly string[], options: RunOptions = {}): RunningProgram {
  const child = spawn(file, args, { env: { ...process.env, ...options.env }, stdio: "pipe" });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  child.stdin.on("error", () => {});
  if (options.input !== undefined) child.stdin.end(options.input);
  const ended = new Promise<Ended>((done) => {
    child.on("error", (error) => done({ code: 127, stdout, stderr: error.message }));
    child.on("close", (code) => {
      process.removeListener("exit", kill);
      done({ code: code ?? 128, stdout, stderr });
    });
  });
  let over = false;
  void ended.then(() => (over = true));
  const output = (): string => stdout + stderr;
  return {
    child,
    ended,
    output,
    async until(pattern, milliseconds = 30_000) {
      const deadline = Date.now() + milliseconds;
      while (!pattern.test(output())) {
        if (over || Date.now() > deadline)
          throw new Error(`${over ? "ended" : "continued"} without ${pattern}; it printed:\n${output().slice(-4000)}`);
        await new Promise((done) => setTimeout(done, 20));
      }
      return output();
    },
    write: (text) => void child.stdin.write(text),
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(kill, 10_000);
      await ended;
      clearTimeout(timer);
    },
  };
}
