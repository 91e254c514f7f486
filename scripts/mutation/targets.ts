import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mutantsOf, type Mutant } from "./mutants.ts";

export interface TargetFile {
  readonly file: string;
  readonly source: string;
  readonly mutants: readonly Mutant[];
  /** The number of its first mutant. */
  readonly first: number;
}

interface Targets {
  readonly files: readonly TargetFile[];
  readonly count: number;
}

/** The mutants of files, numbered from 1: the same numbers in every process. */
export function readTargets(root: string, files: readonly string[]): Targets {
  let count = 0;
  const targets = files.map((file): TargetFile => {
    const source = readFileSync(join(root, file), "utf8");
    const mutants = mutantsOf(file, source);
    const first = count + 1;
    count += mutants.length;
    return { file, source, mutants, first };
  });
  return { files: targets, count };
}
