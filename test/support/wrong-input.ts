/** `causeway up --demo` on a simulated cloud of a test's own, with input that is wrong. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterEach, beforeEach, expect } from "vitest";
import { TIMEOUT, causeway } from "./processes.ts";

interface Answer {
  readonly code: number | null;
  readonly output: string;
}

/** The cloud that `upOn` with `clouds()` uses. */
export const onCloud = ["--cloud", "simulator", "--advertise-address", "127.0.0.1"];

/** The cloud and the folders of one test. */
export class WrongInput {
  readonly simulator: Simulator;
  /** What the cloud had at first. */
  readonly before: readonly string[];
  readonly #dir = mkdtempSync(join(tmpdir(), "causeway-wrong-"));

  constructor(simulator: Simulator) {
    this.simulator = simulator;
    this.before = simulator.inventory();
  }

  /** The path of a clouds.yaml for the simulated cloud. */
  clouds(change: (text: string) => string = (text) => text): string {
    const path = join(mkdtempSync(join(this.#dir, "clouds-")), "clouds.yaml");
    writeFileSync(path, change(this.simulator.cloudsYaml), { mode: 0o600 });
    return path;
  }

  /** An empty state folder. */
  state(): string {
    return mkdtempSync(join(this.#dir, "state-"));
  }

  up(args: readonly string[], config: string | undefined = this.clouds()): Promise<Answer> {
    return this.upOn(this.state(), args, config);
  }

  async upOn(state: string, args: readonly string[], config: string | undefined): Promise<Answer> {
    const system = causeway(["up", "--demo", "--exit-when-ready", "--state", state, ...args], {
      env: { OS_CLIENT_CONFIG_FILE: config, HOME: this.#dir, OS_CLOUD: undefined },
      cwd: this.#dir,
    });
    const timer = setTimeout(() => system.child.kill("SIGKILL"), TIMEOUT);
    const code = await system.ended;
    clearTimeout(timer);
    return { code, output: system.output() };
  }

  async close(): Promise<void> {
    await this.simulator.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** One for each test of the file. */
export function setWrongInput(): () => WrongInput {
  let held: WrongInput | undefined;
  beforeEach(async () => {
    held = new WrongInput(await startSimulator());
  });
  afterEach(() => held?.close());
  return () => {
    if (!held) throw new Error("there is no cloud yet");
    return held;
  };
}

/** What a user reads: what happened, what to do, and a code to search for; no stack. */
export function expectPlain(answer: Answer, expected: { exit: number; code: string; says: RegExp }): void {
  expect(answer.output).toMatch(expected.says);
  expect(answer.output).toMatch(new RegExp(`^ {2}code: ${expected.code}$`, "m"));
  expect(answer.output).toMatch(/^ {2}what to do: ./m);
  expect(answer.output).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(answer.code).toBe(expected.exit);
}
