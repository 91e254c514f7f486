import { extentOf } from "../../bounds.ts";
import { callOf, childrenOf, type CelNode, isMacro, nodesOf } from "./ast.ts";
import { callCost } from "./call-costs.ts";
import { CostError } from "./cost-error.ts";
import type { CelEnvironment } from "./cel-environment.ts";
import { stepsOfMatching } from "../regexp.ts";
import { MATCHES } from "./strings.ts";
import { parseCel } from "./has.ts";

/** What one evaluation, and all rules of one object, may cost; about a quarter of a second and 2.5 seconds at worst. */
const CALL_LIMIT = 1_000_000;
/** The budget of all rules that one object has to pass. */
export const OBJECT_LIMIT = 10_000_000;

/** Counts what evaluations cost. */
export interface Meter {
  /** What is left of the object's budget; below zero when it is spent. */
  left: number;
}

/**
 * Evaluates an expression, and takes what that costs from the meter. Throws a CostError when it costs too much, and
 * what the expression throws.
 */
export type Program = (activation: Readonly<Record<string, unknown>>, meter: Meter) => unknown;

/**
 * An expression ready to run: its patterns match in linear time, and every step of it is counted, so that nothing a
 * tenant writes can hold the process. Throws the compiler's error.
 */
export function compileProgram(environment: CelEnvironment, text: string): Program {
  const parsed = parseCel(environment, text);
  const counter = { spent: 0, limit: CALL_LIMIT, values: new Map<CelNode, unknown>() };
  for (const node of nodesOf(parsed.ast)) {
    if (node.op === "rcall" && node.args[0] === "matches") (node.args as [string, ...unknown[]])[0] = MATCHES;
    count(node, counter);
  }
  return (activation, meter) => {
    counter.spent = 0;
    try {
      const result: unknown = parsed(activation);
      // Logic may have passed over the error that a spent budget is.
      if (counter.spent > counter.limit) throw exceeded();
      return result;
    } finally {
      counter.values.clear();
      meter.left -= counter.spent;
    }
  };
}

interface Counter {
  spent: number;
  /** What each node gave last. */
  readonly values: Map<CelNode, unknown>;
  readonly limit: number;
}

type Evaluate = (...given: readonly unknown[]) => unknown;

/**
 * Has a node count itself whenever it is evaluated. The library puts the right function there at first use, so that is
 * caught too.
 */
function count(node: CelNode, counter: Counter): void {
  const call = callOf(node);
  const step = node.op === "value" ? 0 : node.op === "list" ? 10 : node.op === "map" ? 30 : 1;
  const cost = step + (call ? callCost(call.name, call.args.length) : 0);
  const price = priceOf(node);
  let inner = (node as unknown as { evaluate: Evaluate }).evaluate;
  const counted: Evaluate = (...given) => {
    if ((counter.spent += cost) > counter.limit) throw exceeded();
    const before = stepsOfMatching();
    const value = inner.call(node, ...given);
    // What is made has to be paid for: growth is what makes evaluations long.
    if (typeof value === "string") counter.spent += Math.ceil(value.length / 10);
    if (price) counter.spent += price(childrenOf(node).map((child) => counter.values.get(child)));
    if (PATTERNS.has(call?.name ?? "")) counter.spent += Math.ceil((stepsOfMatching() - before) / MATCHED_AT_ONCE);
    counter.values.set(node, value);
    return value;
  };
  Object.defineProperty(node, "evaluate", { get: () => counted, set: (next: Evaluate) => void (inner = next) });
}

const PATTERNS: ReadonlySet<string> = new Set([MATCHES, "matches", "find", "findAll"]);
/** Steps of matching at the cost of one of evaluating. */
const MATCHED_AT_ONCE = 100;

/**
 * What an operation costs in addition to itself, by the size of what it is given; undefined for those that cost the
 * same whatever that is.
 */
function priceOf(node: CelNode): ((given: readonly unknown[]) => number) | undefined {
  if (node.op === "in") return ([, list]) => sizeOf(list);
  if (node.op === "==" || node.op === "!=") return ([a, b]) => Math.min(extent(a), extent(b));
  const call = callOf(node);
  if (node.op !== "+" && (!call || isMacro(call))) return undefined;
  return (given) => given.reduce((total: number, value) => total + sizeOf(value), 0);
}

function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

/** What comparing a list or a map with another may take. */
function extent(value: unknown): number {
  return typeof value === "object" && value !== null ? Math.ceil(extentOf(value, 10 * CALL_LIMIT).bytes / 10) : 0;
}

function exceeded(): CostError {
  return new CostError("operation cancelled: actual cost limit exceeded");
}
