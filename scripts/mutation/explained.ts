import { readFileSync } from "node:fs";
import type { Mutant } from "./mutants.ts";

/** Why no test can notice a mutant, or none has to. */
export interface Explanation {
  readonly file: string;
  /** The changed text, and what it becomes. */
  readonly original: string;
  readonly replacement: string;
  /** Which of several equal texts of the file, from 1; all of them when absent. */
  readonly nth?: number;
  readonly reason: string;
}

export function readExplanations(path: string): readonly Explanation[] {
  const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Array.isArray(parsed)) throw new Error(`${path} is no list`);
  return parsed as Explanation[];
}

/** The mutants of one file that an explanation is about. */
export function explainedBy(explanation: Explanation, mutants: readonly Mutant[]): readonly Mutant[] {
  const { original, replacement, nth } = explanation;
  const same = mutants.filter((m) => m.original === original && m.replacement === replacement);
  return nth === undefined ? same : same.slice(nth - 1, nth);
}
