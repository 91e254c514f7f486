/**
 * `npm run test:mutation`: changes one operator, condition, literal or early return at a time and runs the tests that
 * reach it: a test must fail.
 *
 *   --only PATHS    files below these paths, separated by commas
 *   --sample N      N mutants of each group of files, chosen by --seed
 *   --seed N        default 1
 *   --fresh         judges all again, also what an earlier run has judged
 *   --fast          only test files that start no server: the tables next to the code
 *   --tests TEXTS   only test files that have one of these texts in their path: what survives them is not judged yet
 *   --report        judges nothing: what earlier runs found out
 *   --jobs N        processes that judge, default 1
 *   --json FILE     writes every mutant and what became of it
 *   --page          writes docs/reference/mutation.md and its mutation.json, from this run, earlier ones, and what
 *                   mutation.json has of files whose text is the same
 */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Chooser } from "./choose.ts";
import { Imports } from "./imports.ts";
import { Judges } from "./judges.ts";
import type { Coverage } from "./protocol.ts";
import { report, type Judged } from "./report.ts";
import { allScopes, type Scope } from "./scopes.ts";
import { digest, keepCoverage, keptCoverage, State, withoutImports } from "./state.ts";
import { readTargets, type TargetFile } from "./targets.ts";

const root = resolve(import.meta.dirname, "../..");
const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "1" },
    json: { type: "string" },
    page: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
    fast: { type: "boolean", default: false },
    tests: { type: "string" },
    report: { type: "boolean", default: false },
  },
});
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(0);
const only = options.only?.split(",");
const texts = options.tests?.split(",");
const scopes = allScopes(root);
const judged: Judged[] = [];
for (const group of new Set(scopes.map((s) => s.group))) {
  await judgeGroup(
    group,
    scopes.filter((s) => s.group === group),
  );
}
process.exitCode = report(root, { scopes, judged, ...options });

interface One {
  readonly target: TargetFile;
  readonly index: number;
}

async function judgeGroup(name: string, group: readonly Scope[]): Promise<void> {
  const began = performance.now();
  const state = new State(join(root, `.build/mutation/${name}.verdicts.json`), options.fresh);
  const targets = readTargets(
    root,
    group.flatMap((s) => s.files),
  );
  const tests = new Map([...new Set(group.flatMap((s) => s.tests))].map((file) => [file, digestOf(file, group)]));
  const wanted = sampled(
    targets.files
      .filter(({ file }) => only?.some((path) => file.startsWith(path)) ?? true)
      .flatMap((target) => target.mutants.map((_, index): One => ({ target, index }))),
  );
  const isChosen = (file: string): boolean =>
    (!options.fast || isTable(file)) && (texts?.some((text) => file.includes(text)) ?? true);
  const chosen = new Map([...tests].filter(([file]) => isChosen(file)));
  const tried = ({ target, index }: One): ReadonlySet<string> => {
    const { survived = {} } = state.find(target, index);
    return new Set([...tests].filter(([file, text]) => survived[file] === text).map(([file]) => file));
  };
  const open = wanted.filter((one) => {
    if (options.report || state.find(one.target, one.index).by !== undefined) return false;
    const before = tried(one);
    return [...chosen.keys()].some((file) => !before.has(file));
  });
  if (wanted.length > 0) console.log(`${name}: ${wanted.length} mutants, ${open.length} to judge`);
  const files = group.flatMap((s) => s.files);
  const judges = new Judges(files);
  if (open.length > 0) {
    const needed = [...chosen].filter(([file]) => open.some((one) => !tried(one).has(file)));
    const coverage = await coverageOf(judges, group, new Map(needed), targets.files);
    const independent = group.flatMap((s) => s.independent);
    const chooser = new Chooser(coverage, independent, new Imports(root));
    console.log(`  ${coverage.length} test files, ${seconds(began)} s`);
    // A file that fails without a mutant has judged none.
    const judging = new Set(coverage.map(({ file }) => file));
    const left = open.values();
    let done = 0;
    const work = async (own: Judges): Promise<void> => {
      for (const one of left) {
        const before = tried(one);
        const { target, index } = one;
        const number = target.first + index;
        const { ordinary, loading, leftOut } = chooser.choose(number, target, before);
        let { by, spoiled } = await own.judge(number, ordinary, false);
        if (by === undefined) {
          const again = await own.judge(number, loading, true);
          ({ by } = again);
          spoiled = [...spoiled, ...again.spoiled];
        }
        for (const file of spoiled) console.log(`spoiled: ${file}: by ${target.file}:${target.mutants[index]?.line}`);
        const isTried = (file: string): boolean => judging.has(file) && !leftOut.has(file) && !spoiled.includes(file);
        const files = [...tests].filter(([file]) => isTried(file) || before.has(file));
        state.keep(target, index, by === undefined ? { survived: Object.fromEntries(files) } : { by });
        done += 1;
        if (done % 100 === 0) {
          state.save();
          console.log(`  ${done} of ${open.length}, ${seconds(began)} s`);
        }
      }
      own.close();
    };
    const others = Array.from({ length: Number(options.jobs) - 1 }, () => new Judges(files));
    await Promise.all([judges, ...others].map((own) => work(own)));
    state.save();
  }
  for (const one of wanted) {
    const { target, index } = one;
    const mutant = target.mutants[index];
    const scope = group.find((s) => s.files.includes(target.file))?.name;
    if (!mutant || scope === undefined) continue;
    const { by, survived } = state.find(target, index);
    const before = tried(one);
    const isOpen = by === undefined && [...tests.keys()].some((file) => !before.has(file));
    judged.push({ scope, mutant, same: target.mutants, by, isOpen, isUntried: by === undefined && !survived });
  }
}

async function coverageOf(
  judges: Judges,
  group: readonly Scope[],
  tests: ReadonlyMap<string, string>,
  targets: readonly TargetFile[],
): Promise<readonly Coverage[]> {
  const coverage: Coverage[] = [];
  const sources = digest(...targets.map((t) => withoutImports(t.source)));
  for (const [file, text] of tests) {
    const isIndependent = group.some((s) => s.independent.includes(file));
    const path = join(root, `.build/mutation/${digest(file)}.json`);
    const key = `${sources} ${text}`;
    let covered = keptCoverage(path, key);
    if (!covered) {
      covered = await judges.cover(file, isIndependent);
      if (covered.failed.length === 0 || isIndependent) keepCoverage(path, key, covered);
      console.log(`  ${file}: ${covered.tests.length} tests, ${(covered.time / 1000).toFixed(1)} s`);
    }
    for (const failure of covered.failed) console.log(`  judges nothing: ${file}: ${failure.split("\n")[0] ?? ""}`);
    if (covered.failed.length === 0 || isIndependent) coverage.push(covered);
  }
  return coverage;
}

/** Of a file and, where its tests are elsewhere, of what it imports. */
function digestOf(file: string, group: readonly Scope[]): string {
  const cases = group.some((s) => s.independent.includes(file)) ? globSync(join(root, file, "../**/*.ts")).sort() : [];
  return digest(...[join(root, file), ...cases].map((path) => withoutImports(readFileSync(path, "utf8"))));
}

/** It starts no server. */
function isTable(file: string): boolean {
  return !/startApiServer|startSimulator|startEmbedded|createServer/.test(readFileSync(join(root, file), "utf8"));
}

function sampled<T>(all: readonly T[]): readonly T[] {
  if (options.sample === undefined) return all;
  const ranked = all.map((one, i) => ({ one, rank: digest(options.seed, String(i)) }));
  return ranked
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, Number(options.sample))
    .map(({ one }) => one);
}
