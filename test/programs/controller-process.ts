/** `causeway run hosted-control-plane` as a process of its own, which a test kills. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { launch, type RunningProgram } from "./run.ts";

const main = resolve(import.meta.dirname, "../../packages/causeway/src/main.ts");

export class ControllerProcess {
  readonly #args: readonly string[];
  #running: RunningProgram;
  kills = 0;

  constructor(dir: string, kubeconfig: string, more: readonly string[] = []) {
    const file = join(dir, "controller.kubeconfig");
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    const flags = ["--kubeconfig", file, "--owner", "suite", "--pool-members", "1", "--leader-elect", "false"];
    this.#args = [main, "run", "hosted-control-plane", ...flags, ...more];
    this.#running = launch(process.execPath, this.#args);
  }

  /** Ends it by SIGKILL, and starts another one. */
  async kill(): Promise<void> {
    if (this.#running.child.exitCode !== null) throw new Error(`it ended by itself: ${this.#running.output()}`);
    this.#running.child.kill("SIGKILL");
    await this.#running.ended;
    this.kills++;
    this.#running = launch(process.execPath, this.#args);
  }

  output(): string {
    return this.#running.output().slice(-4_000);
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }
}
