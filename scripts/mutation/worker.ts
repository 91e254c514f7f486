/** A process that runs test files with one mutant after the other. Its parent ends it when a mutant does not end. */
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { activate, installHooks, installSwitches, type Switches, type Target } from "./hooks.ts";
import type { Answer, Chosen, Command, Coverage, CoveredTest } from "./protocol.ts";
import type * as Harness from "./harness.ts";
import { ownTime } from "./own-time.ts";
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

/** The tests of a file whose tests do not depend on each other: what comes before them is done once, and remains. */
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

/** Runs a file without mutants: what it reaches while it loads, what each test reaches, and how long that takes. */
async function cover({ file, independent }: Extract<Command, { type: "cover" }>): Promise<Coverage> {
  switches.reached.fill(0);
  const began = ownTime("self");
  const failed: string[] = [];
  const tests: CoveredTest[] = [];
  const hooks = new Set<number>();
  let loading: number[] = [];
  const between = (): void => {
    for (const number of reached()) hooks.add(number);
    switches.reached.fill(0);
  };
  const note = (title: string, start: number, error: unknown): void => {
    if (error !== undefined) failed.push(`${title}: ${error instanceof Error ? error.message : JSON.stringify(error)}`);
    else tests.push({ title, time: ownTime("self") - start, reached: reached() });
    switches.reached.fill(0);
  };
  try {
    const suite = await suiteOf(file);
    loading = reached();
    switches.reached.fill(0);
    if (independent) {
      const all = [...(await openTests(file)).values()];
      between();
      for (const test of all) {
        // What cannot be run twice judges nothing.
        const first = await harness.attempt(test, 60_000);
        const start = ownTime("self");
        note(test.title, start, first ?? (await harness.attempt(test, 60_000)));
      }
    } else {
      let start = 0;
      const watcher: Harness.Watcher = {
        over: false,
        wants: () => true,
        began: () => {
          between();
          start = ownTime("self");
        },
        ended: ({ title }, error) => note(title, start, error),
      };
      await harness.runSuite(suite, { watcher, timeout: 120_000 });
      between();
    }
  } catch (error) {
    failed.push(error instanceof Error ? error.message : String(error));
  }
  return { file, loading, hooks: [...hooks], tests, time: ownTime("self") - began, failed };
}

type Judge = Extract<Command, { type: "judge" }>;

/** Runs files with a mutant until a test fails: which one, or whose tests fail without it, too. */
async function judge({ number, files: chosen, fresh }: Judge): Promise<Answer> {
  if (fresh) generation += 1;
  let killer: string | undefined;
  for (const one of chosen) {
    try {
      killer = one.isOpen ? await judgeOpen(one, number) : await judgeFile(one, number, fresh);
    } catch {
      return { type: "spoiled", number, file: one.file };
    }
    if (killer !== undefined) break;
  }
  return { type: "judged", number, killer, memory: process.memoryUsage().rss };
}

/** Milliseconds that a test may take with a mutant at least. */
const LONGEST = 2000;
const SPOILED = "the state of the tests is spoiled";

/** A test counts if it passes again without the mutant: what an earlier one left behind may be at fault. */
async function judgeFile(one: Chosen, number: number, fresh: boolean): Promise<string | undefined> {
  const killer = await failing(one, number, fresh);
  if (killer === undefined || fresh) return killer;
  if ((await failing({ ...one, ...(one.tests ? { tests: until(one.tests, killer) } : {}) }, 0, false)) === undefined)
    return killer;
  // The tests of the file may depend on each other.
  const whole = { file: one.file, time: one.time };
  if (one.tests === undefined || (await failing(whole, 0, false)) !== undefined) throw new Error(SPOILED);
  return failing(whole, number, false);
}

function until(titles: readonly string[], last: string): readonly string[] {
  const end = titles.indexOf(last);
  return end < 0 ? titles : titles.slice(0, end + 1);
}

async function failing({ file, time, tests }: Chosen, number: number, fresh: boolean): Promise<string | undefined> {
  const wanted = tests && new Set(tests);
  let killer: string | undefined;
  const watcher: Harness.Watcher = {
    get over() {
      return killer !== undefined;
    },
    wants: ({ title }) => wanted?.has(title) ?? true,
    began: () => {},
    ended: ({ title }, error) => {
      if (error !== undefined) killer ??= title;
    },
  };
  activate(switches, number);
  try {
    await harness.runSuite(await suiteOf(file, fresh), { watcher, timeout: Math.max(LONGEST, time * 5) });
  } catch {
    killer = `${file} does not load`;
  } finally {
    activate(switches, 0);
  }
  return killer;
}

async function judgeOpen({ file, time, tests: titles = [] }: Chosen, number: number): Promise<string | undefined> {
  const limit = Math.max(LONGEST, time);
  const tests = await openTests(file);
  for (const title of titles) {
    const test = tests.get(title);
    if (!test) continue;
    activate(switches, number);
    const failure = await harness.attempt(test, limit);
    activate(switches, 0);
    if (failure === undefined) continue;
    if ((await harness.attempt(test, limit)) === undefined) return title;
    throw new Error(SPOILED);
  }
  return undefined;
}

async function answerTo(command: Command): Promise<Answer> {
  return command.type === "cover" ? { type: "covered", coverage: await cover(command) } : judge(command);
}

process.on("message", (command: Command) => {
  void answerTo(command).then((value) => process.send?.(value));
});
process.on("disconnect", () => process.exit(0));
process.send?.({ type: "ready" });
