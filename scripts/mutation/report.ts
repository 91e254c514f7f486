import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { explainedBy, readExplanations } from "./explained.ts";
import type { Mutant } from "./mutants.ts";
import { pageOf } from "./page.ts";
import type { Scope } from "./scopes.ts";
import { digest, withoutImports } from "./state.ts";
import { mergedSummary, readSummary, rowsOf, writeSummary, type Current } from "./summary.ts";
import { readTargets } from "./targets.ts";

export interface Judged {
  readonly scope: string;
  readonly mutant: Mutant;
  /** All mutants of its file. */
  readonly same: readonly Mutant[];
  /** What killed it. */
  readonly by: string | undefined;
  /** It is alive, and not all tests have been tried. */
  readonly isOpen: boolean;
  /** No run of this checkout has judged it. */
  readonly isUntried: boolean;
}

interface Results {
  readonly scopes: readonly Scope[];
  readonly judged: readonly Judged[];
  readonly page: boolean;
  readonly json?: string;
}

/** Prints what became of the mutants, and writes the page where it is wanted: the exit code. */
export function report(root: string, { scopes, judged, page, json }: Results): number {
  const { reasons, stale } = explain(judged);
  const reasonOf = ({ mutant, by }: Judged): string | undefined => (by === undefined ? reasons.get(mutant) : undefined);
  const survivors = judged.filter((j) => j.by === undefined && !j.isOpen && reasonOf(j) === undefined);
  for (const { mutant } of survivors) {
    console.log(`survived: ${mutant.file}:${mutant.line}: ${shown(mutant.original)} -> ${shown(mutant.replacement)}`);
  }
  for (const one of stale) console.log(`stale explanation: ${one}`);
  if (page) writePage(root, { scopes, judged, reasonOf });
  if (json !== undefined) {
    const all = judged.map((j) => ({ scope: j.scope, ...j.mutant, by: j.by, isOpen: j.isOpen, reason: reasonOf(j) }));
    writeFileSync(json, JSON.stringify(all, undefined, 1));
  }
  const killed = judged.filter((j) => j.by !== undefined).length;
  const explained = judged.filter((j) => reasonOf(j) !== undefined).length;
  console.log(`${killed} passed, ${survivors.length + stale.length} failed, ${explained} skipped`);
  return survivors.length + stale.length > 0 ? 1 : 0;
}

interface Known extends Pick<Results, "scopes" | "judged"> {
  readonly reasonOf: (one: Judged) => string | undefined;
}

/** The page and its summary, from what this checkout has found out and what others have. */
function writePage(root: string, { scopes, judged, reasonOf }: Known): void {
  const path = join(root, "docs/reference/mutation.json");
  const byFile = Map.groupBy(judged, (j) => j.mutant.file);
  const { files } = readTargets(
    root,
    scopes.flatMap((s) => s.files),
  );
  const current = files.map(({ file, source, mutants }): Current => {
    const own = byFile.get(file) ?? [];
    return {
      file,
      text: digest(withoutImports(source)),
      mutants: mutants.length,
      killed: own.filter((j) => j.by !== undefined).length,
      explained: own.filter((j) => reasonOf(j) !== undefined).length,
      survived: own.filter((j) => j.by === undefined && !j.isOpen && reasonOf(j) === undefined).length,
      isUntried: own.every((j) => j.isUntried),
    };
  });
  const summary = mergedSummary(readSummary(path), current);
  writeSummary(path, summary);
  const rows = rowsOf(scopes, summary, new Map(files.map((f) => [f.file, f.mutants.length])));
  writeFileSync(join(root, "docs/reference/mutation.md"), pageOf(rows, summary));
}

/** Why mutants are left alive; explanations that hold for none are stale. */
function explain(judged: readonly Judged[]): { reasons: ReadonlyMap<Mutant, string>; stale: readonly string[] } {
  const reasons = new Map<Mutant, string>();
  const stale: string[] = [];
  const killed = new Set(judged.filter((j) => j.by !== undefined).map((j) => j.mutant));
  for (const explanation of readExplanations(join(import.meta.dirname, "explained.json"))) {
    const { file, original, replacement } = explanation;
    const same = judged.find((j) => j.mutant.file === file)?.same;
    if (!same) continue;
    const about = explainedBy(explanation, same);
    const alive = about.filter((m) => !killed.has(m));
    if (alive.length === 0) {
      const why = about.length === 0 ? "there is no such mutant" : "a test kills it";
      stale.push(`${file}: ${original} -> ${replacement}: ${why}`);
    }
    for (const mutant of alive) reasons.set(mutant, explanation.reason);
  }
  return { reasons, stale };
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
