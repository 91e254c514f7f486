import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Verdict } from "./judges.ts";
import type { Mutant } from "./mutants.ts";

/** Verdicts of earlier runs: they hold as long as the file does, and a survivor's only as long as the tests do too. */
export class State {
  readonly #path: string;
  readonly #verdicts: Record<string, Verdict>;

  constructor(path: string, fresh: boolean) {
    this.#path = path;
    this.#verdicts = fresh ? {} : read(path);
  }

  find(mutant: Mutant, source: string, tests: string): Verdict | undefined {
    const key = keyOf(mutant, source);
    return this.#verdicts[key] ?? this.#verdicts[`${key} ${tests}`];
  }

  keep(mutant: Mutant, verdict: Verdict, { source, tests }: { source: string; tests: string }): void {
    const key = keyOf(mutant, source);
    this.#verdicts[verdict.killed ? key : `${key} ${tests}`] = verdict;
  }

  save(): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(this.#verdicts));
  }
}

export function digest(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16);
}

function keyOf({ file, start, end, replacement }: Mutant, source: string): string {
  return `${file} ${start}-${end} ${JSON.stringify(replacement)} ${digest(source)}`;
}

function read(path: string): Record<string, Verdict> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, Verdict>;
  } catch {
    return {};
  }
}
