import type { CelNode } from "./ast.ts";

/** The largest number: cel-go counts in 64 bits. */
export const UNBOUNDED = 2 ** 64;

/** What the estimate knows of a value. */
export interface Known {
  /** Where it is below `self`: field names, "@items", "@values", "@keys". */
  readonly path?: readonly string[];
  /** The most characters or entries; undefined when it is unknown. */
  readonly size?: number;
  /** Of the entries of a list or map that the expression makes. */
  readonly entry?: { readonly isList: boolean; readonly key: number; readonly value: number };
}

/** An expression's value, and the estimated cost of computing it. */
export interface Priced extends Known {
  readonly cost: number;
}

/** What is known of the variables around an expression. */
export type Scope = ReadonlyMap<string, Known>;

/** Estimates the cost of expressions and the size of their values. */
export interface CostEstimator {
  price(node: CelNode, scope: Scope): Priced;
  sizeOf(node: CelNode, known: Known): number;
  sizeAt(path: readonly string[] | undefined): number | undefined;
}

/** A number that is at most the largest one, as cel-go's unsigned arithmetic saturates. */
export function saturated(value: number): number {
  return Math.min(value, UNBOUNDED);
}
