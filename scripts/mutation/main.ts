/**
 * `npm run test:mutation`: changes one operator, condition, literal or early return at a time and runs the tests that reach it: a test must fail.
 *
 *   --only PATH     files below this path
 *   --sample N      N mutants, chosen by --seed
 *   --seed N        default 1
 *   --fresh         judges all again, also what an earlier run has judged
 *   --fast          only test files that start no server: the tables beside the code
 *   --report        judges nothing: what earlier runs found out
 *   --json FILE     writes every mutant and what became of it
 *   --page          writes docs/reference/mutation.md, from this run and earlier ones
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { explainedBy, readExplanations } from "./explained.ts";
import { Judges, type Verdict } from "./judges.ts";
import type { Mutant } from "./mutants.ts";
import { pageOf, type Row } from "./page.ts";
import type { Chosen, Coverage } from "./protocol.ts";
import { allScopes, type Scope } from "./scopes.ts";
import { digest, State } from "./state.ts";
import { readTargets, type TargetFile } from "./targets.ts";

const root = resolve(import.meta.dirname, "../..");
const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    json: { type: "string" },
    page: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
    fast: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
  },
});
/** Tests of the contract that one mutant is shown at most, those that reach the fewest mutants first. */
const MOST_CASES = 30;
const MOST_FILES = 8;
/** Milliseconds. */
const FAST = 3000;

interface Judged {
  readonly scope: string;
  readonly mutant: Mutant;
  /** undefined where no run has judged it with these tests. */
  readonly verdict: Verdict | undefined;
  readonly reason?: string;
}

const explanations = readExplanations(join(import.meta.dirname, "explained.json"));
const state = new State(join(root, ".build/mutation.json"), options.fresh);
const judged: Judged[] = [];
const stale: string[] = [];
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(0);

for (const scope of allScopes(root)) {
  const files = scope.files.filter((file) => options.only === undefined || file.startsWith(options.only));
  if (files.length > 0) await judgeScope({ ...scope, files });
}
report();

async function judgeScope(scope: Scope): Promise<void> {
  const began = performance.now();
  const targets = readTargets(root, scope.files);
  const tests = digest(...scope.tests.map((file) => readFileSync(join(root, file), "utf8")));
  const all = targets.files.flatMap((target) =>
    target.mutants.map((mutant, i) => ({ target, mutant, number: target.first + i })),
  );
  const wanted = sampled(all);
  const open = options.report
    ? []
    : wanted.filter(({ mutant, target }) => state.find(mutant, target.source, tests) === undefined);
  console.log(`${scope.name}: ${wanted.length} mutants of ${scope.files.length} files, ${open.length} to judge`);
  const judges = new Judges(scope.files);
  const coverage: Coverage[] = [];
  const chosen = options.fast ? scope.tests.filter((file) => isTable(file)) : scope.tests;
  for (const file of open.length > 0 ? chosen : []) {
    const covered = await judges.cover(file, scope.independent.includes(file));
    console.log(`  ${file}: ${covered.tests.length} tests, ${(covered.time / 1000).toFixed(1)} s`);
    for (const failure of covered.failed) console.log(`  judges nothing: ${file}: ${failure.split("\n")[0] ?? ""}`);
    if (covered.failed.length === 0 || scope.independent.includes(file)) coverage.push(covered);
  }
  if (open.length > 0) console.log(`  ${coverage.length} test files, ${seconds(began)} s`);
  const plan = planOf(coverage, scope, targets.files);
  let done = 0;
  for (const { target, mutant, number } of open) {
    const { ordinary, loading } = plan(number, target);
    let verdict = await judges.judge(number, ordinary, false);
    if (!verdict.killed && loading.length > 0) verdict = await judges.judge(number, loading, true);
    state.keep(mutant, verdict, { source: target.source, tests });
    done += 1;
    if (done % 50 === 0) {
      state.save();
      console.log(`  ${done} of ${open.length}, ${seconds(began)} s, ${judges.starts} starts`);
    }
  }
  judges.close();
  state.save();
  collect(scope, wanted, tests);
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

interface Plan {
  readonly ordinary: readonly Chosen[];
  /** Files whose modules are loaded anew with the mutant, where it acts while they load. */
  readonly loading: readonly Chosen[];
}

/** Which tests a mutant is shown: fast files first; of independent tests those that reach the fewest mutants first. */
function planOf(coverage: readonly Coverage[], { independent }: Scope, files: readonly TargetFile[]) {
  const isIndependent = (c: Coverage): boolean => independent.includes(c.file);
  const byTime = coverage.filter((c) => !isIndependent(c)).sort((a, b) => a.time - b.time);
  const reaches = new Map(byTime.map((c) => [c.file, new Set(c.tests.flatMap((t) => t.reached))]));
  const loaded = new Set(coverage.flatMap((c) => c.loading));
  const byTest = new Map<number, { file: string; title: string; weight: number; time: number }[]>();
  for (const c of coverage.filter(isIndependent)) {
    for (const { title, time, reached } of c.tests) {
      for (const number of reached) {
        byTest.set(number, [...(byTest.get(number) ?? []), { file: c.file, title, weight: reached.length, time }]);
      }
    }
  }
  const firstOf = new Map(files.map((f) => [f.first, f]));
  return (number: number, { first, mutants }: TargetFile): Plan => {
    const chosen = byTime.filter((c) => reaches.get(c.file)?.has(number)).slice(0, MOST_FILES);
    const cases = (byTest.get(number) ?? []).sort((a, b) => a.weight - b.weight).slice(0, MOST_CASES);
    const [one] = cases;
    const ordinary: Chosen[] = chosen.map(({ file, time }) => ({ file, time }));
    if (one) {
      const time = cases.reduce((sum, c) => sum + c.time, 0);
      ordinary.push({ file: one.file, time, tests: cases.map((c) => c.title) });
    }
    if (!loaded.has(number) || !firstOf.has(first)) return { ordinary, loading: [] };
    const same = mutants.map((_, i) => first + i);
    const near = byTime.filter((c) => same.some((n) => reaches.get(c.file)?.has(n))).slice(0, MOST_FILES);
    // A table that is read once is reached by no test: then all fast files are tried.
    const tried = near.length > 0 ? near : byTime.filter(({ time }) => time < FAST);
    return { ordinary, loading: tried.map(({ file, time }) => ({ file, time })) };
  };
}

function collect(
  scope: Scope,
  wanted: readonly { readonly target: TargetFile; readonly mutant: Mutant }[],
  tests: string,
): void {
  const reasons = new Map<Mutant, string>();
  const verdictOf = (mutant: Mutant, target: TargetFile): Verdict | undefined =>
    state.find(mutant, target.source, tests);
  const targets = [...new Set(wanted.map(({ target }) => target))];
  for (const explanation of explanations) {
    const target = targets.find((t) => t.mutants.some((m) => m.file === explanation.file));
    if (!target) continue;
    const about = explainedBy(explanation, target.mutants);
    const killed = about.filter((m) => verdictOf(m, target)?.killed);
    if (about.length === 0 || (explanation.nth !== undefined && killed.length > 0) || killed.length === about.length) {
      stale.push(
        `${explanation.file}: ${explanation.original} -> ${explanation.replacement}: ${about.length === 0 ? "there is no such mutant" : "a test kills it"}`,
      );
    }
    for (const mutant of about) reasons.set(mutant, explanation.reason);
  }
  for (const { mutant, target } of wanted) {
    const verdict = verdictOf(mutant, target);
    const reason = verdict?.killed ? undefined : reasons.get(mutant);
    judged.push({ scope: scope.name, mutant, verdict, ...(reason === undefined ? {} : { reason }) });
  }
}

function report(): void {
  const survivors = judged.filter((j) => j.verdict?.killed === false && j.reason === undefined);
  for (const { mutant } of survivors) {
    console.log(`survived: ${mutant.file}:${mutant.line}: ${shown(mutant.original)} -> ${shown(mutant.replacement)}`);
  }
  for (const one of stale) console.log(`stale explanation: ${one}`);
  const rows = allScopes(root).map(({ name, goal }): Row => {
    const own = judged.filter((j) => j.scope === name);
    const killed = own.filter((j) => j.verdict?.killed).length;
    const explained = own.filter((j) => j.reason !== undefined).length;
    const unknown = own.filter((j) => !j.verdict && j.reason === undefined).length;
    return { name, goal, mutants: own.length, killed, explained, unknown };
  });
  if (options.page) {
    const left = survivors.map(({ mutant: { file, line, original, replacement } }) => ({
      file,
      line,
      original: shown(original),
      replacement: shown(replacement),
    }));
    writeFileSync(join(root, "docs/reference/mutation.md"), pageOf(rows, left));
  }
  if (options.json !== undefined) {
    writeFileSync(
      options.json,
      JSON.stringify(
        judged.map(({ scope, mutant, verdict, reason }) => ({ scope, ...mutant, ...verdict, reason })),
        undefined,
        1,
      ),
    );
  }
  const killed = judged.filter((j) => j.verdict?.killed).length;
  const explained = judged.filter((j) => j.reason !== undefined).length;
  console.log(`${killed} passed, ${survivors.length + stale.length} failed, ${explained} skipped`);
  process.exitCode = survivors.length + stale.length > 0 ? 1 : 0;
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
