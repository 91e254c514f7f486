import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Coverage } from "./protocol.ts";
import type { TargetFile } from "./targets.ts";

/** What runs have found out about a mutant. */
export interface Verdict {
  /** The test that failed, or "timeout". */
  readonly by?: string;
  /** Where no test failed: the test files that were tried, each with a digest of its text. */
  readonly survived?: Readonly<Record<string, string>>;
}

/** Verdicts of earlier runs: they hold as long as the file does, and a survivor's only as long as the tests do too. */
export class State {
  readonly #path: string;
  readonly #verdicts: Record<string, Verdict>;

  constructor(path: string, fresh: boolean) {
    this.#path = path;
    this.#verdicts = fresh ? {} : ((readJson(path) as Record<string, Verdict> | undefined) ?? {});
  }

  find(target: TargetFile, index: number): Verdict {
    return this.#verdicts[keyOf(target, index)] ?? {};
  }

  keep(target: TargetFile, index: number, verdict: Verdict): void {
    this.#verdicts[keyOf(target, index)] = verdict;
  }

  save(): void {
    writeJson(this.#path, this.#verdicts);
  }
}

/** Coverage of test files that take long, until they or the mutants change. */
export function keptCoverage(path: string, key: string): Coverage | undefined {
  const found = readJson(path) as { readonly key: string; readonly coverage: Coverage } | undefined;
  return found?.key === key ? found.coverage : undefined;
}

export function keepCoverage(path: string, key: string, coverage: Coverage): void {
  writeJson(path, { key, coverage });
}

export function digest(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16);
}

/** Where a file is, and from where it imports, changes no verdict. */
export function withoutImports(source: string): string {
  return source.replaceAll(/^(import|export) [^;]*? from "[^"]*";\n/gm, "");
}

function keyOf({ source, mutants }: TargetFile, index: number): string {
  return `${digest(withoutImports(source))} ${index} ${JSON.stringify(mutants[index]?.replacement)}`;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}
