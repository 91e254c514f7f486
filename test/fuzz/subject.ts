import { fork, type ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Client, credentialsOf } from "./client.ts";
import type { Report } from "./server.ts";

const SERVER = resolve(import.meta.dirname, "server.ts");
const LOG_KEPT = 4000;
const REST = 10;
const RESTS = 200;

/** A running server, and what its main thread and memory have cost so far, as Linux counts it. */
export class Subject {
  readonly client: Client;
  readonly #child: ChildProcess;
  #log = "";
  #exit: string | undefined;

  private constructor(child: ChildProcess, client: Client) {
    this.#child = child;
    this.client = client;
    child.once("exit", (code, signal) => (this.#exit = `the server's process ended with ${signal ?? code}`));
    child.stderr?.on("data", (chunk: Buffer) => (this.#log = (this.#log + chunk.toString("utf8")).slice(-LOG_KEPT)));
  }

  static async start(): Promise<Subject> {
    const child = fork(SERVER, [], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      execArgv: ["--expose-gc", "--max-semi-space-size=4"],
    });
    const report = await next(child);
    if (report.is !== "ready") throw new Error("the server reported something else before it was ready");
    return new Subject(child, new Client(credentialsOf(report.kubeconfig)));
  }

  /** Why there is no server any more. */
  get exit(): string | undefined {
    return this.#exit;
  }

  /** The last lines that the server logged. */
  get log(): string {
    return this.#log;
  }

  /** Milliseconds of CPU time of the main thread since it began. */
  cpu(): number {
    return this.#read("schedstat", (text) => Number(text.split(" ")[0]) / 1e6);
  }

  /** Bytes of resident memory now, and at the highest since `resetPeak`. */
  memory(): { now: number; peak: number } {
    const field = (text: string, name: string): number =>
      1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
    return this.#read("status", (text) => ({ now: field(text, "VmRSS"), peak: field(text, "VmHWM") }), {
      now: 0,
      peak: 0,
    });
  }

  resetPeak(): void {
    if (this.#exit === undefined) writeFileSync(`/proc/${this.#child.pid}/clear_refs`, "5");
  }

  /** Waits until the main thread does nothing more, for a few seconds at most. */
  async settle(): Promise<void> {
    let before = this.cpu();
    for (let rest = 0; rest < RESTS && this.#exit === undefined; rest += 1) {
      await new Promise((done) => setTimeout(done, REST));
      const now = this.cpu();
      if (now - before < 0.5) return;
      before = now;
    }
  }

  /** Collects garbage in the server. */
  async collect(): Promise<void> {
    if (this.#exit !== undefined) return;
    this.#child.send("collect");
    await next(this.#child).catch(() => {});
  }

  async stop(): Promise<void> {
    this.client.close();
    if (this.#exit !== undefined) return;
    const ended = new Promise((done) => this.#child.once("exit", done));
    this.#child.kill("SIGKILL");
    await ended;
  }

  #read<T>(file: string, parse: (text: string) => T, otherwise?: T): T {
    try {
      return parse(readFileSync(`/proc/${this.#child.pid}/${file}`, "utf8"));
    } catch (error) {
      if (otherwise !== undefined) return otherwise;
      if (this.#exit !== undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return 0 as T;
      throw error;
    }
  }
}

function next(child: ChildProcess): Promise<Report> {
  return new Promise((done, reject) => {
    const end = (): void => reject(new Error("the server's process ended"));
    child.once("exit", end);
    child.once("message", (message) => {
      child.off("exit", end);
      done(message as Report);
    });
  });
}
