import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterOwnTime } from "./own-time.ts";
import type { Answer, Chosen, Command, Coverage } from "./protocol.ts";

const START_TIMEOUT = 120_000;
/** Milliseconds of its own time that a process has for a mutant at least: loading the test files counts. */
const SHORTEST = 12_000;
const COVER_TIMEOUT = 900_000;
/** Modules of earlier generations are never freed. */
const MOST_MEMORY = 1_800_000_000;

/** What the test files found out about a mutant. */
export interface Judgement {
  /** The test that fails with the mutant, or "timeout"; undefined where it survives. */
  readonly by: string | undefined;
  /** Files that judge nothing: with the mutant their tests fail, and after it without the mutant, too. */
  readonly spoiled: readonly string[];
}

/** Runs files with a mutant. One whose state the mutant spoils in two processes is left out. */
export async function judgement(
  ask: (files: readonly Chosen[]) => Promise<Answer | undefined>,
  files: readonly Chosen[],
): Promise<Judgement> {
  const once = new Set<string>();
  const spoiled: string[] = [];
  for (let left = files; left.length > 0; left = left.filter(({ file }) => !spoiled.includes(file))) {
    const answer = await ask(left);
    if (answer?.type === "judged") return { by: answer.killer, spoiled };
    if (answer?.type !== "spoiled") return { by: "timeout", spoiled };
    if (once.has(answer.file)) spoiled.push(answer.file);
    once.add(answer.file);
  }
  return { by: undefined, spoiled };
}

/** A process that runs tests with mutants, started again when a mutant ends it, spoils its state or does not end. */
export class Judges {
  readonly #files: readonly string[];
  #child: ChildProcess | undefined;

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  async cover(file: string, independent: boolean): Promise<Coverage> {
    const answer = await this.#ask({ type: "cover", file, independent }, COVER_TIMEOUT);
    if (answer?.type === "covered") return answer.coverage;
    return { file, loading: [], hooks: [], tests: [], time: 0, failed: ["it did not end"] };
  }

  judge(number: number, files: readonly Chosen[], fresh: boolean): Promise<Judgement> {
    return judgement(async (left) => {
      const time = left.reduce((sum, f) => sum + f.time, 0);
      const answer = await this.#ask({ type: "judge", number, files: left, fresh }, SHORTEST + 8 * time);
      if (answer?.type !== "judged" || answer.memory > MOST_MEMORY) this.close();
      return answer;
    }, files);
  }

  close(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  async #started(): Promise<ChildProcess> {
    if (this.#child?.connected) return this.#child;
    const args = [JSON.stringify(this.#files)];
    const execArgv = ["--no-warnings", "--max-old-space-size=3000"];
    const child = fork(join(import.meta.dirname, "worker.ts"), args, {
      execArgv,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child = child;
    if ((await answered(child, START_TIMEOUT)) === undefined) throw new Error("the process that judges did not start");
    return child;
  }

  async #ask(command: Command, timeout: number): Promise<Answer | undefined> {
    const child = await this.#started();
    child.send(command);
    return answered(child, timeout);
  }
}

function answered(child: ChildProcess, timeout: number): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const done = (answer?: Answer): void => {
      stop();
      child.off("message", done);
      child.off("exit", gone);
      resolve(answer);
    };
    const gone = (): void => done();
    const stop = afterOwnTime(child.pid ?? "self", timeout, gone);
    child.on("message", done);
    child.on("exit", gone);
  });
}
