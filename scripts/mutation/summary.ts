import { readFileSync, writeFileSync } from "node:fs";
import type { Row } from "./page.ts";
import type { Scope } from "./scopes.ts";

/** What became of the mutants of one file; the rest of them is not judged. */
export interface FileResult {
  /** Digest of the text that was judged. */
  readonly text: string;
  readonly mutants: number;
  readonly killed: number;
  readonly explained: number;
  readonly survived: number;
  /** Where this file was not written by the run itself: the commit whose page says so of the whole scope. */
  readonly commit?: string;
}

/** By file: committed next to the page, so that several checkouts can judge a part each. */
export type Summary = Readonly<Record<string, FileResult>>;

/** A file as it is now, and what this checkout has found out about it. */
export interface Current extends FileResult {
  readonly file: string;
  /** No mutant of it was judged here. */
  readonly isUntried: boolean;
}

export function readSummary(path: string): Summary {
  return JSON.parse(readFileSync(path, "utf8")) as Summary;
}

/** One line for each file: two changes of different files can be merged. */
export function writeSummary(path: string, summary: Summary): void {
  const lines = Object.entries(summary).map(([file, result]) => `  ${JSON.stringify(file)}: ${JSON.stringify(result)}`);
  writeFileSync(path, `{\n${lines.join(",\n")}\n}\n`);
}

/** Kept results hold as long as the text of their file does, and until this checkout knows as much. */
export function mergedSummary(kept: Summary, current: readonly Current[]): Summary {
  const rows = current.flatMap(({ file, isUntried, ...own }): [string, FileResult][] => {
    const before = kept[file]?.text === own.text ? kept[file] : undefined;
    if (before && (isUntried || known(before) > known(own))) return [[file, before]];
    return isUntried ? [] : [[file, own]];
  });
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One row for each scope. Mutants of a file that has no result as it is now are not judged. */
export function rowsOf(
  scopes: readonly Pick<Scope, "name" | "files" | "goal">[],
  summary: Summary,
  mutantsOf: ReadonlyMap<string, number>,
): readonly Row[] {
  return scopes.map(({ name, files, goal }): Row => {
    const sum = (field: "killed" | "explained" | "survived"): number =>
      files.reduce((total, file) => total + (summary[file]?.[field] ?? 0), 0);
    const mutants = files.reduce((total, file) => total + (mutantsOf.get(file) ?? 0), 0);
    const [killed, explained, survived] = [sum("killed"), sum("explained"), sum("survived")];
    return { name, goal, mutants, killed, explained, survived, unknown: mutants - killed - explained - survived };
  });
}

function known({ killed, explained, survived }: FileResult): number {
  return killed + explained + survived;
}
