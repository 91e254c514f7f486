/** What a test file reaches of the mutants. */
export interface Coverage {
  readonly file: string;
  /** While its modules load. */
  readonly loading: readonly number[];
  readonly tests: readonly { readonly title: string; readonly time: number; readonly reached: readonly number[] }[];
  /** Milliseconds for the whole file. */
  readonly time: number;
  /** The tests that fail without a mutant, and why: they judge none. */
  readonly failed: readonly string[];
}

/** A test file to run with a mutant; `tests` where they do not depend on each other and not all reach it. */
export interface Chosen {
  readonly file: string;
  readonly time: number;
  readonly tests?: readonly string[];
}

export type Command =
  | { readonly type: "cover"; readonly file: string; readonly independent: boolean }
  | { readonly type: "judge"; readonly number: number; readonly files: readonly Chosen[]; readonly fresh: boolean };

export type Answer =
  | { readonly type: "ready" }
  | { readonly type: "covered"; readonly coverage: Coverage }
  | { readonly type: "judged"; readonly number: number; readonly killer: string | undefined; readonly memory: number }
  /** Its tests fail without a mutant too: it must be started again. */
  | { readonly type: "spoiled"; readonly number: number };
