import type { CelNode } from "./ast.ts";

/** What macros work with of the CEL library, whose own declarations leave it out. */
export interface CheckedType {
  readonly kind: string;
  readonly keyType?: CheckedType;
  readonly valueType?: CheckedType;
}

/** The variables that an expression sees. */
export interface Inner {
  forkWithVariable(name: string, type: CheckedType): Inner;
  reuse(context: Inner): Inner;
  setIterValue(value: unknown, evaluator: Evaluator): Inner;
}

/** Finds the types of a macro's arguments when an expression is compiled. */
export interface Checker {
  check(node: CelNode, context: Inner): CheckedType;
  getType(name: string): CheckedType;
}

/** Computes a macro's arguments when an expression runs. */
export interface Evaluator {
  run(node: CelNode, context: Inner): unknown;
}
