import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  fstatSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { messageOf, whenAborted, type Clock, type Log } from "@causeway/foundation";
import { tellingLine } from "../program-log.ts";
import { endProcess } from "./end-process.ts";
import { writeOnce } from "./files.ts";
import { identityOf, processesWith, readIdentity, type ProcessIdentity } from "./process-identity.ts";

/** A program with its command line. */
export interface ChildCommand {
  /** Also the name of its log and of its pid file. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Ms that it has to end after SIGTERM. */
  readonly grace: number;
}

/** Where a program leaves its files, and who learns of its state. */
export interface ChildWith {
  /** Folder of pid files and logs. */
  readonly dir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** It was started, or ended by itself. */
  readonly changed: () => void;
}

/** A program that ran for so long (ms) is started again at once; before that the delay doubles, up to a minute. */
const STEADY = 60_000;
/** One that runs for so long is not reported as crashing any more. */
const RECOVERED = 5_000;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 60_000;
/** A log of this size is put aside when its program is started again, in place of the one before. */
const LARGEST_LOG = 10 * 2 ** 20;
/** Bytes of a log in which its last line is searched: etcd's have stack traces. */
const TAIL = 16_384;

/** One program that is kept running. */
export class Child {
  readonly name: string;
  readonly #command: ChildCommand;
  readonly #using: ChildWith;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #failures = 0;
  #last = "";
  /** Undefined: it does not run now. */
  #runsSince: number | undefined;

  constructor(command: ChildCommand, using: ChildWith) {
    this.name = command.name;
    this.#command = command;
    this.#using = using;
  }

  start(): void {
    this.#running ??= this.#keep();
  }

  /** Why it does not run for long; undefined: it runs, or was not tried often enough to say so. */
  get problem(): string | undefined {
    const recovered = this.#runsSince !== undefined && this.#using.clock.now() - this.#runsSince >= RECOVERED;
    if (recovered) return undefined;
    return this.#failures < 2 ? undefined : `${this.name} ended ${this.#failures} times in a row: ${this.#last}`;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #keep(): Promise<void> {
    const { clock, log } = this.#using;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const began = clock.now();
      this.#runsSince = began;
      const end = await this.#once(signal).catch((error: unknown) => messageOf(error));
      this.#runsSince = undefined;
      if (signal.aborted) break;
      this.#failures = clock.now() - began >= STEADY ? 1 : this.#failures + 1;
      this.#last = end;
      const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(this.#failures - 1, 20));
      log.warn("a program of a control plane ended and is started again", { program: this.name, end, retryMs: delay });
      this.#using.changed();
      await clock.sleep(delay, signal).catch(() => {});
    }
  }

  /** A full disk must not have it started a second time: without its file it is found by its mark. */
  #record(file: string, identity: ProcessIdentity): void {
    try {
      writeFileSync(file, JSON.stringify(identity), { mode: 0o600 });
    } catch (error) {
      this.#using.log.warn("the pid of a program cannot be written", { program: this.name, error: messageOf(error) });
    }
  }

  /** Runs it once, and returns how it ended. */
  async #once(signal: AbortSignal): Promise<string> {
    const { dir, clock } = this.#using;
    const { program, args, grace, name } = this.#command;
    const logFile = join(dir, `${name}.log`);
    putAside(logFile);
    const output = openSync(logFile, "a", 0o600);
    const pidFile = pidFileOf(dir, name);
    try {
      const child = spawn(program, args, {
        stdio: ["ignore", output, output],
        env: environment(markOf(dir, name)),
        detached: true,
      });
      const ended = new Promise<string>((resolve) => {
        child.once("error", (error) => resolve(messageOf(error)));
        child.once("exit", (code, by) => resolve(by === null ? `exit status ${code}` : `ended by ${by}`));
      });
      const identity = child.pid === undefined ? undefined : identityOf(child.pid);
      if (identity) this.#record(pidFile, identity);
      this.#using.changed();
      const over = new AbortController();
      const stopping = whenAborted(AbortSignal.any([signal, over.signal])).then(async () => {
        if (signal.aborted && identity) await endProcess(identity, { clock, grace });
      });
      const end = await ended;
      over.abort();
      await stopping;
      rmSync(pidFile, { force: true });
      const line = lastLine(logFile);
      return line === "" ? end : `${end}: ${line}`;
    } finally {
      closeSync(output);
    }
  }
}

/** Of our environment only what programs need: no credentials. */
function environment(mark: string): NodeJS.ProcessEnv {
  const { PATH = "", HOME = "/", TZ } = process.env;
  return { PATH, HOME, [MARK]: mark, ...(TZ === undefined ? {} : { TZ }) };
}

/** By it a program is found that was started, and whose pid file was not written any more. */
const MARK = "CAUSEWAY_PROGRAM";

/**
 * Of one program of one folder: random, so that it is no other folder's, and kept in a file from before the first
 * start.
 */
function markOf(dir: string, name: string): string {
  const file = join(dir, "mark");
  // Without a text, as a full disk left it, it would be that of other folders, too.
  if (existsSync(file) && statSync(file).size === 0) rmSync(file);
  writeOnce(file, randomUUID);
  return `${readFileSync(file, "utf8")}/${name}`;
}

/** By it a later process of ours finds the program that this one started. */
export function pidFileOf(dir: string, name: string): string {
  return join(dir, `${name}.pid`);
}

/** Ends a program that an earlier process of ours started and could not stop. */
export async function endLeftover(dir: string, name: string, clock: Clock): Promise<ProcessIdentity | undefined> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = pidFileOf(dir, name);
  const identity = readIdentity(file);
  if (identity) await endProcess(identity, { clock, grace: 5_000 });
  const unrecorded = existsSync(join(dir, "mark")) ? processesWith(MARK, markOf(dir, name)) : [];
  for (const each of unrecorded) await endProcess(each, { clock, grace: 5_000 });
  rmSync(file, { force: true });
  return identity ?? unrecorded[0];
}

function putAside(file: string): void {
  try {
    if (statSync(file).size > LARGEST_LOG) renameSync(file, `${file}.1`);
  } catch {
    // There is none yet.
  }
}

/** The last line of a log that says something, shortened. */
function lastLine(file: string): string {
  try {
    const from = openSync(file, "r");
    try {
      const size = fstatSync(from).size;
      const length = Math.min(TAIL, size);
      const bytes = Buffer.alloc(length);
      readSync(from, bytes, 0, length, size - length);
      return tellingLine(bytes.toString("utf8")).slice(0, 400);
    } finally {
      closeSync(from);
    }
  } catch {
    return "";
  }
}
