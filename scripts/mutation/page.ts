import type { Summary } from "./summary.ts";

/** What became of the mutants of one scope. */
export interface Row {
  readonly name: string;
  /** Which part must be killed or explained. */
  readonly goal: number;
  readonly mutants: number;
  readonly killed: number;
  readonly explained: number;
  readonly survived: number;
  /** Not judged yet. */
  readonly unknown: number;
}

/** docs/reference/mutation.md. */
export function pageOf(rows: readonly Row[], summary: Summary): string {
  const percent = (part: number, whole: number): string =>
    whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
  const table = rows.map(({ name, goal, mutants, killed, explained, survived, unknown }) => {
    const share = percent(killed + explained, mutants);
    return `| ${name} | ${mutants} | ${killed} | ${explained} | ${survived} | ${unknown} | ${share} | ${goal * 100} % |`;
  });
  const files = Object.entries(summary)
    .filter(([, { survived }]) => survived > 0)
    .sort(([, a], [, b]) => b.survived - a.survived)
    .map(([file, { survived }]) => `| ${file} | ${survived} |`);
  const early = Map.groupBy(Object.values(summary), (result) => result.commit);
  early.delete(undefined);
  const origins = [...early].map(
    ([commit = "", found]) =>
      `${found.length} files were judged at commit ${commit}, before \`mutation.json\` was kept: their rows follow from the page of that commit, which had no mutant of their scopes left.`,
  );
  return [
    "# Mutation tests",
    "",
    "`npm run test:mutation` changes one thing of a source file at a time and runs the tests that reach it. A mutant is killed when a test fails. This page is",
    "written by `npm run test:mutation -- --report --page` from what runs have found out so far: by this checkout, and by others in `mutation.json`, which has",
    "one row for each file with a digest of the text that was judged. A file that has another text since counts as not judged. So does a mutant that is alive",
    "until all test files of its scope, with the contract suite, have been tried as they are now: a run that leaves some out, since they take long, leaves it open. Each mutant is shown the tests that reach it, the cheapest first;",
    "of the contract suite at most forty cases, those first that reach the fewest mutants. One process runs them all: the mutants of a file are in its text",
    "behind a switch. The numbers below are of `--fast` runs, in which the contract suite judges nothing.",
    ...origins,
    "",
    "What is changed: `===` and `!==`, `&&` and `||`, `<` and `<=`, `>` and `>=`, `+` and `-`, `!x`, `true` and `false`; each branch of a condition is removed;",
    "strings and lists become empty; a `return` in the middle of a block is left out. Template strings and numbers are not changed.",
    "Explanations, each with its reason, are in `scripts/mutation/explained.json`; one that no longer holds fails the run.",
    "",
    "| scope | mutants | killed | explained | survived | not judged | killed or explained | goal |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...table,
    "",
    ...(files.length === 0
      ? []
      : ["## Where mutants survived", "", "| file | mutants |", "| --- | --- |", ...files, ""]),
  ].join("\n");
}
