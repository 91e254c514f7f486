/** What became of the mutants of one scope. */
export interface Row {
  readonly name: string;
  /** Which part must be killed or explained. */
  readonly goal: number;
  readonly mutants: number;
  readonly killed: number;
  readonly explained: number;
  /** Not judged yet. */
  readonly unknown: number;
}

interface Survivor {
  readonly file: string;
}

/** docs/reference/mutation.md. */
export function pageOf(rows: readonly Row[], survivors: readonly Survivor[]): string {
  const percent = (part: number, whole: number): string =>
    whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
  const table = rows.map(({ name, goal, mutants, killed, explained, unknown }) => {
    const survived = mutants - killed - explained - unknown;
    const share = percent(killed + explained, mutants);
    return `| ${name} | ${mutants} | ${killed} | ${explained} | ${survived} | ${unknown} | ${share} | ${goal * 100} % |`;
  });
  const byFile = new Map<string, number>();
  for (const { file } of survivors) byFile.set(file, (byFile.get(file) ?? 0) + 1);
  const files = [...byFile].sort((a, b) => b[1] - a[1]).map(([file, count]) => `| ${file} | ${count} |`);
  return [
    "# Mutation tests",
    "",
    "`npm run test:mutation` changes one thing of a source file at a time and runs the tests that reach it. A mutant is killed when a test fails. This page is",
    "written by `npm run test:mutation -- --report --page` from what runs have found out so far. A mutant that is alive counts as not judged until all test files",
    "of its scope, with the contract suite, have been tried as they are now. Each mutant is shown the tests that reach it, the cheapest first; of the contract",
    "suite at most forty cases, those first that reach the fewest mutants. One process runs them all: the mutants of a file are in its text behind a switch.",
    "The numbers below are of `--fast` runs, in which the contract suite judges nothing.",
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
