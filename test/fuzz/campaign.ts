import { bytesOf, type Input } from "./input.ts";
import { limitsOf, type Limits } from "./limits.ts";
import { Pace } from "./pace.ts";
import type { Reply } from "./client.ts";
import { fixtures } from "./fixtures.ts";
import { faultsOf, play, type Fault } from "./run-input.ts";
import { Subject } from "./subject.ts";

export interface Finding {
  readonly input: Input;
  readonly fault: Fault;
}

/** How often an excess of time or memory is seen before it is believed. */
const TIMES = 5;

/** One server under test. Each input goes to it as it comes; one that seems to cost too much is judged with care. */
export class Campaign {
  #subject: Subject | undefined;
  /** Starts of the server: one, and one after each time that it died or got stuck. */
  starts = 0;
  /** Inputs that were judged with care. */
  judged = 0;
  readonly #pace = new Pace();
  readonly #slack: number;

  constructor(slack = 1) {
    this.#slack = slack;
  }

  async close(): Promise<void> {
    await this.#subject?.stop();
    this.#subject = undefined;
  }

  /** Sends inputs one after the other and reports what is wrong; `done` is called after each. */
  async run(inputs: Iterable<Input>, found: (finding: Finding) => Promise<void>, done: () => void): Promise<void> {
    for (const input of inputs) {
      if (await this.#isSuspect(input)) {
        this.judged += 1;
        for (const fault of await this.judge(input)) await found({ input, fault });
      }
      done();
    }
  }

  /** What is wrong with one input, sent alone; time and memory count when they are too much each time. */
  async judge(input: Input): Promise<Fault[]> {
    const limits = this.#limitsOf(input);
    let [milliseconds, memory] = [Infinity, Infinity];
    let last: readonly Reply[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      const cost = await this.#cost(input);
      if ("fault" in cost) return [cost.fault];
      last = cost.replies;
      milliseconds = Math.min(milliseconds, cost.milliseconds / this.#pace.now());
      memory = Math.min(memory, cost.memory);
      if (milliseconds <= limits.milliseconds && memory <= limits.memory) break;
    }
    return [...faultsOf(input, last), ...costFaults({ milliseconds, memory }, limits, bytesOf(input))];
  }

  /**
   * Whether an input may be at fault: its replies show it, or it costs too much, with what was left to do of those
   * before it.
   */
  async #isSuspect(input: Input): Promise<boolean> {
    const subject = await this.#started();
    const before = { cpu: subject.cpu(), memory: subject.memory().now };
    subject.resetPeak();
    const [played] = await play(subject, [input]);
    if (played === undefined || subject.exit !== undefined) {
      await this.close();
      return true;
    }
    const limits = this.#limitsOf(input);
    return (
      subject.cpu() - before.cpu > limits.milliseconds ||
      subject.memory().peak - before.memory > limits.memory ||
      faultsOf(input, played).length > 0
    );
  }

  #limitsOf(input: Input): Limits {
    const limits = limitsOf(bytesOf(input));
    return { ...limits, milliseconds: this.#slack * limits.milliseconds };
  }

  async #cost(input: Input): Promise<Cost | { readonly fault: Fault }> {
    const subject = await this.#started();
    await subject.settle();
    await subject.collect();
    await subject.settle();
    let [milliseconds, memory] = [0, 0];
    const replies: Reply[] = [];
    // Preparation is sent like the rest, but what it costs is not counted.
    for (const part of partsOf(input)) {
      const before = { cpu: subject.cpu(), memory: subject.memory().now };
      subject.resetPeak();
      const [played] = await play(subject, [{ steps: part }]);
      if (played === undefined || subject.exit !== undefined) return { fault: await this.#lost(subject, before.cpu) };
      replies.push(...played);
      await subject.settle();
      if (part[0]?.isPreparation) continue;
      milliseconds += subject.cpu() - before.cpu;
      memory = Math.max(memory, subject.memory().peak - before.memory);
    }
    return { milliseconds, memory, replies };
  }

  /** Why an input did not end; the server is replaced. */
  async #lost(subject: Subject, cpu: number): Promise<Fault> {
    const spent = Math.round(subject.cpu() - cpu);
    const { exit } = subject;
    await this.close();
    if (exit !== undefined) return { is: "dead process", text: `${exit}: ${subject.log.slice(-500)}` };
    if (spent > 1000) return { is: "slow", text: `no answer after ${spent} ms of CPU` };
    return { is: "dead connection", text: "no answer, while the server's thread is idle" };
  }

  async #started(): Promise<Subject> {
    if (this.#subject?.exit !== undefined) await this.close();
    if (this.#subject) return this.#subject;
    this.starts += 1;
    this.#subject = await Subject.start();
    await prepare(this.#subject);
    return this.#subject;
  }
}

interface Cost {
  readonly milliseconds: number;
  readonly memory: number;
  readonly replies: readonly Reply[];
}

function costFaults(cost: { milliseconds: number; memory: number }, limits: Limits, bytes: number): Fault[] {
  const faults: Fault[] = [];
  if (cost.milliseconds > limits.milliseconds) {
    const text = `${cost.milliseconds.toFixed(0)} ms of CPU for ${bytes} bytes; limit ${limits.milliseconds.toFixed(0)} ms`;
    faults.push({ is: "slow", text });
  }
  if (cost.memory > limits.memory) {
    faults.push({ is: "memory", text: `${cost.memory} bytes more for ${bytes} bytes; limit ${limits.memory}` });
  }
  return faults;
}

/** Runs of steps that are all preparation, or none. */
function partsOf({ steps }: Input): Input["steps"][] {
  const parts: Input["steps"][number][][] = [];
  for (const step of steps) {
    const last = parts.at(-1);
    if (last && Boolean(last[0]?.isPreparation) === Boolean(step.isPreparation)) last.push(step);
    else parts.push([step]);
  }
  return parts;
}

/** The objects that inputs read, list and patch. */
async function prepare(subject: Subject): Promise<void> {
  const [replies] = await play(subject, [{ steps: fixtures() }]);
  const refused = replies?.find(({ status = 0 }) => status >= 300);
  if (!replies || refused)
    throw new Error(`the objects for the run cannot be created: ${refused?.text ?? subject.log}`);
  await subject.settle();
}
