/** A process that runs test files with one mutant after the other. Its parent ends it when a mutant does not end. */
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { activate, installHooks, installSwitches, type Switches, type Target } from "./hooks.ts";
import type { Answer, Chosen, Command, Coverage } from "./protocol.ts";
import type * as Harness from "./harness.ts";
import { readTargets } from "./targets.ts";

setFlagsFromString("--stack-size=900");
const root = resolve(import.meta.dirname, "../..");
const [files = "[]"] = process.argv.slice(2);
const targets = readTargets(root, JSON.parse(files) as string[]);
const switches: Switches = installSwitches(targets.count);
installHooks(root, new Map(targets.files.map(({ file, ...target }): [string, Target] => [join(root, file), target])));
process.env["VITEST"] = "true";
process.env["NODE_ENV"] = "test";
// What a mutant leaves behind must not end the process.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});
const harness = (await import("./harness.ts")) as typeof Harness;
const fastCheck = await import("fast-check");
fastCheck.configureGlobal({ seed: 1 });

type Suite = Awaited<ReturnType<typeof harness.collected>>;
const suites = new Map<string, Suite>();
const open = new Map<string, ReadonlyMap<string, Harness.Test>>();
let generation = 0;

function urlOf(file: string): string {
  return pathToFileURL(isAbsolute(file) ? file : join(root, file)).href;
}

async function suiteOf(file: string, fresh = false): Promise<Suite> {
  const known = suites.get(file);
  if (known && !fresh) return known;
  const url = fresh ? `${urlOf(file)}?generation=${generation}` : urlOf(file);
  const suite = await harness.collected(() => import(url));
  if (!fresh) suites.set(file, suite);
  return suite;
}

/** The tests of a file whose tests do not depend on each other: what comes before them is done once, and stays. */
async function openTests(file: string): Promise<ReadonlyMap<string, Harness.Test>> {
  const known = open.get(file);
  if (known) return known;
  const tests = new Map((await harness.openSuite(await suiteOf(file))).map((test) => [test.title, test]));
  open.set(file, tests);
  return tests;
}

function reached(): number[] {
  const found: number[] = [];
  for (let i = 1; i < switches.reached.length; i += 1) if (switches.reached[i] === 1) found.push(i);
  return found;
}

interface Covered {
  title: string;
  time: number;
  reached: readonly number[];
}

/** Runs a file without mutants: what it reaches while it loads, what each test reaches, and how long that takes. */
async function cover({ file, independent }: Extract<Command, { type: "cover" }>): Promise<Coverage> {
  switches.reached.fill(0);
  const began = performance.now();
  const failed: string[] = [];
  const tests: Covered[] = [];
  let loading: number[] = [];
  const note = (title: string, start: number, error: unknown): void => {
    if (error !== undefined) failed.push(`${title}: ${error instanceof Error ? error.message : JSON.stringify(error)}`);
    else tests.push({ title, time: performance.now() - start, reached: reached() });
    switches.reached.fill(0);
  };
  try {
    const suite = await suiteOf(file);
    loading = reached();
    switches.reached.fill(0);
    if (independent) {
      for (const test of (await openTests(file)).values()) {
        // What cannot be run twice judges nothing.
        const start = performance.now();
        const first = await harness.attempt(test, 60_000);
        note(test.title, start, first ?? (await harness.attempt(test, 60_000)));
      }
    } else {
      let start = 0;
      const watcher: Harness.Watcher = {
        over: false,
        wants: () => true,
        began: () => (start = performance.now()),
        ended: ({ title }, error) => note(title, start, error),
      };
      await harness.runSuite(suite, { watcher, timeout: 120_000 });
      if (reached().length > 0) tests.push({ title: "", time: 0, reached: reached() });
    }
  } catch (error) {
    failed.push(error instanceof Error ? error.message : String(error));
  }
  return { file, loading, tests, time: performance.now() - began, failed };
}

type Judge = Extract<Command, { type: "judge" }>;

/** Runs files with a mutant until a test fails: which one. */
async function judge({ number, files: chosen, fresh }: Judge): Promise<string | undefined> {
  if (fresh) generation += 1;
  for (const one of chosen) {
    activate(switches, number);
    const killer = one.tests ? await judgeTests(one.file, one.tests) : await judgeFile(one, fresh);
    activate(switches, 0);
    if (killer !== undefined) return killer;
  }
  return undefined;
}

async function judgeFile({ file, time }: Chosen, fresh: boolean): Promise<string | undefined> {
  let killer: string | undefined;
  const watcher: Harness.Watcher = {
    get over() {
      return killer !== undefined;
    },
    wants: () => true,
    began: () => {},
    ended: ({ title }, error) => {
      if (error !== undefined) killer ??= title;
    },
  };
  try {
    await harness.runSuite(await suiteOf(file, fresh), { watcher, timeout: Math.max(5000, time * 5) });
  } catch {
    killer = `${file} does not load`;
  }
  return killer;
}

/** A test counts if it passes again without the mutant: what an earlier one left behind may be at fault. */
async function judgeTests(file: string, titles: readonly string[]): Promise<string | undefined> {
  const tests = await openTests(file);
  const number = switches.active;
  for (const title of titles) {
    const test = tests.get(title);
    if (!test) continue;
    activate(switches, number);
    const failure = await harness.attempt(test, 15_000);
    if (failure === undefined) continue;
    activate(switches, 0);
    if ((await harness.attempt(test, 15_000)) === undefined) return title;
    throw new Error("the state of the tests is spoiled");
  }
  return undefined;
}

async function answerTo(command: Command): Promise<Answer> {
  if (command.type === "cover") return { type: "covered", coverage: await cover(command) };
  const { number } = command;
  try {
    return { type: "judged", number, killer: await judge(command), memory: process.memoryUsage().rss };
  } catch {
    return { type: "spoiled", number };
  }
}

process.on("message", (command: Command) => {
  void answerTo(command).then((value) => process.send?.(value));
});
process.on("disconnect", () => process.exit(0));
process.send?.({ type: "ready" });
