import type { Imports } from "./imports.ts";
import type { Chosen, Coverage, CoveredTest } from "./protocol.ts";
import type { TargetFile } from "./targets.ts";

/** Milliseconds that tests with a running server get for one mutant. */
const OPEN_TIME = 1500;
const MOST_OPEN_TESTS = 40;
const MOST_FILES = 12;
/** Modules that are loaded again cost more than tests. */
const MOST_AGAIN = 2;
/** Milliseconds of all tests for one mutant; the first file is run in any case. */
const MOST_TIME = 2000;
/** Milliseconds of a file that is tried for a mutant which no test reaches. */
const FAST = 3000;

export interface Choice {
  readonly ordinary: readonly Chosen[];
  /** Files whose modules are loaded again with the mutant, where it acts while they load. */
  readonly loading: readonly Chosen[];
  /** Files that may kill the mutant too, and are not run this time: it costs too much. They are not tried. */
  readonly leftOut: ReadonlySet<string>;
}

/** Which tests judge a mutant: only those that reach it, the cheapest first. */
export class Chooser {
  readonly #byFile: readonly { readonly coverage: Coverage; readonly tests: ReadonlyMap<number, CoveredTest[]> }[];
  readonly #hooks: ReadonlyMap<string, ReadonlySet<number>>;
  readonly #loaded: ReadonlySet<number>;
  readonly #open: ReadonlySet<string>;
  readonly #imports: Imports;

  constructor(coverage: readonly Coverage[], open: readonly string[], imports: Imports) {
    this.#imports = imports;
    this.#open = new Set(open);
    this.#byFile = coverage.map((c) => ({ coverage: c, tests: byMutant(c) }));
    this.#hooks = new Map(coverage.map((c) => [c.file, new Set(c.hooks)]));
    this.#loaded = new Set(coverage.flatMap((c) => c.loading));
  }

  /** `tried` are test files that the mutant has already survived. */
  choose(number: number, { file, first, mutants }: TargetFile, tried: ReadonlySet<string>): Choice {
    const reaching = this.#byFile
      .filter(({ coverage }) => !tried.has(coverage.file))
      .map(({ coverage, tests }) => this.#chosen(coverage, tests.get(number) ?? [], number))
      .filter((c) => c !== undefined)
      .sort((a, b) => a.time - b.time);
    const ordinary = reaching
      .slice(0, MOST_FILES)
      .filter((_, i, all) => i === 0 || timeOf(all.slice(0, i + 1)) < MOST_TIME);
    if (!this.#loaded.has(number)) return { ordinary, loading: [], leftOut: without(reaching, ordinary) };
    const distanceOf = (test: string): number => this.#imports.distance(test, file) ?? Infinity;
    const tables = this.#byFile.filter(({ coverage: { file: test } }) => !this.#open.has(test) && !tried.has(test));
    // A function that a file calls while it describes its tests: they reach the rest.
    const calling = tables.filter(({ coverage }) => coverage.loading.includes(number));
    const same = mutants.map((_, i) => first + i);
    const near = tables.filter(({ tests }) => same.some((n) => tests.has(n)));
    // A table that is read once is reached by no test: then the fast files that import it are tried.
    const fast = tables.filter(({ coverage }) => coverage.time < FAST && distanceOf(coverage.file) < Infinity);
    const isReached = this.#byFile.some(({ tests }) => tests.has(number));
    const again = isReached ? calling : near.length > 0 ? near : fast;
    const ranked = again
      .map(({ coverage }) => ({ file: coverage.file, time: coverage.time }))
      .sort((a, b) => distanceOf(a.file) - distanceOf(b.file) || a.time - b.time);
    const loading = ranked.slice(0, isReached ? MOST_AGAIN : MOST_FILES);
    return { ordinary, loading, leftOut: without([...reaching, ...ranked], [...ordinary, ...loading]) };
  }

  #chosen({ file, time }: Coverage, reaching: readonly CoveredTest[], number: number): Chosen | undefined {
    if (this.#open.has(file)) return reaching.length > 0 ? openTests(file, reaching) : undefined;
    if (this.#hooks.get(file)?.has(number)) return { file, time };
    if (reaching.length === 0) return undefined;
    return { file, time: timeOf(reaching), tests: reaching.map((t) => t.title) };
  }
}

function without(all: readonly Chosen[], run: readonly Chosen[]): ReadonlySet<string> {
  return new Set(all.map(({ file }) => file)).difference(new Set(run.map(({ file }) => file)));
}

function byMutant({ tests }: Coverage): ReadonlyMap<number, CoveredTest[]> {
  const found = new Map<number, CoveredTest[]>();
  for (const test of tests) {
    for (const number of test.reached) {
      const list = found.get(number);
      if (list) list.push(test);
      else found.set(number, [test]);
    }
  }
  return found;
}

/** Those that reach the fewest mutants first: they are about this one. */
function openTests(file: string, reaching: readonly CoveredTest[]): Chosen {
  const ranked = reaching.toSorted((a, b) => rankOf(a) - rankOf(b));
  const tests: CoveredTest[] = [];
  let time = 0;
  for (const test of ranked) {
    if (tests.length === MOST_OPEN_TESTS) break;
    if (tests.length > 0 && time + test.time > OPEN_TIME) continue;
    tests.push(test);
    time += test.time;
  }
  return { file, time, tests: tests.map((t) => t.title), isOpen: true };
}

function rankOf({ reached, time }: CoveredTest): number {
  return reached.length * (20 + time);
}

function timeOf(tests: readonly { readonly time: number }[]): number {
  return tests.reduce((sum, t) => sum + t.time, 0);
}
