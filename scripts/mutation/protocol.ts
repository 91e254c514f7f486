/** What a test file reaches of the mutants. */
export interface Coverage {
  readonly file: string;
  /** While its modules load. */
  readonly loading: readonly number[];
  /** Before, between and after its tests. */
  readonly hooks: readonly number[];
  readonly tests: readonly CoveredTest[];
  /** Milliseconds for the whole file. */
  readonly time: number;
  /** The tests that fail without a mutant, and why: they judge none. */
  readonly failed: readonly string[];
}

export interface CoveredTest {
  readonly title: string;
  readonly time: number;
  readonly reached: readonly number[];
}

/** A test file to run with a mutant. */
export interface Chosen {
  readonly file: string;
  /** Milliseconds without a mutant. */
  readonly time: number;
  /** The tests that are run; all when absent. */
  readonly tests?: readonly string[];
  /** What comes before the tests is done once, and remains from one mutant to the next. */
  readonly isOpen?: boolean;
}

export type Command =
  | { readonly type: "cover"; readonly file: string; readonly independent: boolean }
  | { readonly type: "judge"; readonly number: number; readonly files: readonly Chosen[]; readonly fresh: boolean };

export type Answer =
  | { readonly type: "ready" }
  | { readonly type: "covered"; readonly coverage: Coverage }
  | { readonly type: "judged"; readonly number: number; readonly killer: string | undefined; readonly memory: number }
  /** The tests of the file fail without a mutant too: the process must be started again. */
  | { readonly type: "spoiled"; readonly number: number; readonly file: string };
