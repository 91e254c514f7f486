/** What test files import instead of vitest: the same words, but files are run again and again in one process. */
import { expect as vitestExpect } from "vitest";
import { afterOwnTime } from "./own-time.ts";

type Work = (...args: unknown[]) => unknown;

export interface Test {
  readonly title: string;
  readonly run: () => unknown;
}

interface Suite {
  readonly beforeAll: Work[];
  readonly afterAll: Work[];
  readonly beforeEach: Work[];
  readonly afterEach: Work[];
  readonly children: (Test | Suite)[];
  readonly parent: Suite | undefined;
  readonly title: string;
}

function suiteOf(title: string, parent?: Suite): Suite {
  return { title, parent, beforeAll: [], afterAll: [], beforeEach: [], afterEach: [], children: [] };
}

let current = suiteOf("");

/** Evaluates a test file, and gives what it describes. */
export async function collected(evaluate: () => Promise<unknown>): Promise<Suite> {
  const root = suiteOf("");
  current = root;
  await evaluate();
  return root;
}

type Add = (title: string, work: Work) => void;

const addTest: Add = (title, run) => void current.children.push({ title: titleOf(current, title), run });

const addSuite: Add = (title, work) => {
  const [outer, inner] = [current, suiteOf(title, current)];
  outer.children.push(inner);
  current = inner;
  work();
  current = outer;
};

function titleOf(suite: Suite, title: string): string {
  return suite.parent ? `${titleOf(suite.parent, suite.title)} > ${title}`.replace(/^ > /, "") : title;
}

const eachOf =
  (add: Add) =>
  (rows: readonly unknown[]) =>
  (title: string, work: Work): void => {
    for (const [i, row] of rows.entries()) {
      const args = Array.isArray(row) ? (row as unknown[]) : [row];
      add(`${title} #${i}`, () => work(...args));
    }
  };

/** As each, but a row that is a list is one argument. */
const forOf =
  (add: Add) =>
  (rows: readonly unknown[]) =>
  (title: string, work: Work): void => {
    for (const [i, row] of rows.entries()) add(`${title} #${i}`, () => work(row));
  };

const ignored = (): void => {};
const declared = (add: Add) =>
  Object.assign((title: string, ...rest: unknown[]) => add(title, rest.find((r) => typeof r === "function") as Work), {
    each: eachOf(add),
    for: forOf(add),
    skip: ignored,
    todo: ignored,
    skipIf: (skipped: unknown) => (skipped ? ignored : add),
    runIf: (run: unknown) => (run ? add : ignored),
  });

export const test = declared(addTest);
export const it = declared(addTest);
export const describe = declared(addSuite);
export const beforeAll = (work: Work): void => void current.beforeAll.push(work);
export const afterAll = (work: Work): void => void current.afterAll.push(work);
export const beforeEach = (work: Work): void => void current.beforeEach.push(work);
export const afterEach = (work: Work): void => void current.afterEach.push(work);
export const vi = {
  /** Time limits are the runner's. */
  setConfig: ignored,
  spyOn(): never {
    throw new Error("spies are not served by the mutation runner");
  },
};

const POLL_TIMEOUT = 10_000;

/** `expect.poll(probe).not.toBe(x)`: again until it holds. */
function poll(probe: () => unknown, { timeout = POLL_TIMEOUT }: { timeout?: number } = {}): unknown {
  const chain = (path: readonly string[]): unknown =>
    new Proxy(ignored, {
      get: (_target, name) => chain([...path, String(name)]),
      async apply(_target, _this, args: unknown[]) {
        const end = Date.now() + timeout;
        for (;;) {
          try {
            let here: unknown = vitestExpect(await probe());
            for (const name of path.slice(0, -1)) here = (here as Record<string, unknown>)[name];
            (here as Record<string, Work>)[path.at(-1) ?? ""]?.(...args);
            return;
          } catch (error) {
            if (Date.now() > end) throw error;
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
        }
      },
    });
  return chain([]);
}

export const expect = Object.assign((...args: unknown[]) => (vitestExpect as unknown as Work)(...args), vitestExpect, {
  poll,
});

/** Called around every test: to note what it reaches, to leave it out, to end a run. */
export interface Watcher {
  wants(test: Test): boolean;
  began(test: Test): void;
  ended(test: Test, error: unknown): void;
  /** No more is needed. */
  readonly over: boolean;
}

interface Within {
  readonly watcher: Watcher;
  /** A mutant is active: what takes this long has failed. */
  readonly timeout: number;
}

/**
 * What comes before and after tests makes keys and starts servers: on a busy machine that takes long without this
 * process computing.
 */
const HOOKS = 20;

export async function runSuite(suite: Suite, within: Within): Promise<void> {
  const { watcher, timeout } = within;
  if (watcher.over || !anyWanted(suite, watcher)) return;
  const here = suite.title || "the file";
  const whole = { title: `${here}: hooks`, run: ignored };
  const cleanups: Work[] = [];
  try {
    for (const work of suite.beforeAll) {
      const cleanup = await inTime(work, HOOKS * timeout);
      if (typeof cleanup === "function") cleanups.push(cleanup as Work);
    }
    for (const child of suite.children) {
      if (watcher.over) break;
      if ("run" in child) await runTest(child, suite, within);
      else await runSuite(child, within);
    }
  } catch (error) {
    watcher.ended(whole, error);
  } finally {
    for (const work of [...suite.afterAll.toReversed(), ...cleanups]) {
      await inTime(work, HOOKS * timeout).catch((error: unknown) => watcher.ended(whole, error));
    }
  }
}

/** The tests of a file whose tests do not depend on each other, after all that comes before them was done once. */
export async function openSuite(suite: Suite): Promise<readonly Test[]> {
  for (const work of suite.beforeAll) await work();
  const tests: Test[] = [];
  for (const child of suite.children) tests.push(...("run" in child ? [child] : await openSuite(child)));
  return tests;
}

/** Runs one test of an open suite: what it throws. */
export async function attempt({ run }: Test, timeout: number): Promise<unknown> {
  try {
    await inTime(run, timeout);
    return undefined;
  } catch (error) {
    return error ?? new Error("it failed");
  }
}

function anyWanted(suite: Suite, watcher: Watcher): boolean {
  return suite.children.some((c) => ("run" in c ? watcher.wants(c) : anyWanted(c, watcher)));
}

async function runTest(one: Test, suite: Suite, { watcher, timeout }: Within): Promise<void> {
  if (!watcher.wants(one)) return;
  watcher.began(one);
  let failure: unknown;
  const attempt = async (work: Work): Promise<void> => {
    try {
      await inTime(work, timeout);
    } catch (error) {
      failure ??= error ?? new Error("it failed");
    }
  };
  for (const work of hooksOf(suite, "beforeEach")) await attempt(work);
  if (failure === undefined) await attempt(one.run);
  for (const work of hooksOf(suite, "afterEach").toReversed()) await attempt(work);
  watcher.ended(one, failure);
}

function hooksOf(suite: Suite, kind: "beforeEach" | "afterEach"): readonly Work[] {
  return [...(suite.parent ? hooksOf(suite.parent, kind) : []), ...suite[kind]];
}

async function inTime(work: Work, timeout: number): Promise<unknown> {
  const result = work();
  if (!(result instanceof Promise)) return result;
  let stop = ignored;
  const late = new Promise<never>((_resolve, reject) => {
    stop = afterOwnTime("self", timeout, () => reject(new Error(`it took longer than ${timeout} ms`)));
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    stop();
  }
}
