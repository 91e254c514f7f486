import type { CelNode } from "./ast.ts";
import type { CelEnvironment } from "./cel-environment.ts";
import type { Checker, Evaluator, Inner } from "./library.ts";

interface Given {
  readonly args: readonly CelNode[];
  readonly receiver: CelNode;
}
interface Macro extends Given {
  first?: Inner;
  second?: Inner;
}

/** One round: the key or index, the value, and what the bodies give when they are evaluated. */
type Rounds = Iterable<{ readonly key: unknown; readonly run: (body: number) => unknown }>;

/**
 * The comprehensions with two variables (cel-go, ext.TwoVarComprehensions): lists give index and value, maps key and
 * value.
 */
export function registerMacros(environment: CelEnvironment): void {
  const register = (signature: string, result: string, reduce: (rounds: Rounds, bodies: number) => unknown): void => {
    environment.registerFunction(`list.${signature}: ${result}`, macro(result, reduce) as never);
  };
  register("all(ast, ast, ast)", "bool", (rounds) => every(rounds));
  register("exists(ast, ast, ast)", "bool", (rounds) => some(rounds));
  register("existsOne(ast, ast, ast)", "bool", (rounds) => count(rounds) === 1);
  for (const args of ["ast, ast, ast", "ast, ast, ast, ast"]) {
    register(`transformList(${args})`, "list<dyn>", (rounds, n) => transformed(rounds, n).map(([, v]) => v));
    register(`transformMap(${args})`, "map<dyn, dyn>", (rounds, n) => mapOf(transformed(rounds, n)));
    register(`transformMapEntry(${args})`, "map<dyn, dyn>", (rounds, n) => merged(transformed(rounds, n)));
  }
}

function macro(result: string, reduce: (rounds: Rounds, bodies: number) => unknown): (given: Given) => object {
  return ({ args, receiver }) => {
    const [first, second, ...bodies] = args;
    for (const variable of [first, second]) {
      if (variable?.op !== "id") throw new Error("the variables of a comprehension are names");
    }
    const names = [first?.args, second?.args] as [string, string];
    return {
      args,
      receiver,
      async: false,
      typeCheck(checker: Checker, self: Macro, context: Inner) {
        const { kind, keyType, valueType } = checker.check(receiver, context);
        const dyn = checker.getType("dyn");
        const key = kind === "list" ? checker.getType("int") : (keyType ?? dyn);
        self.first = context.forkWithVariable(names[0], key);
        self.second = self.first.forkWithVariable(names[1], valueType ?? dyn);
        for (const body of bodies) checker.check(body, self.second);
        return checker.getType(result);
      },
      evaluate(evaluator: Evaluator, self: Macro, context: Inner) {
        return reduce(roundsOf({ evaluator, self, context, bodies }), bodies.length);
      },
    };
  };
}

interface MacroRun {
  readonly evaluator: Evaluator;
  readonly self: Macro;
  readonly context: Inner;
  readonly bodies: readonly CelNode[];
}

function* roundsOf({ evaluator, self, context, bodies }: MacroRun): Rounds & Generator {
  const outer = self.first?.reuse(context);
  for (const [key, value] of entriesOf(evaluator.run(self.receiver, context))) {
    const inner = outer && self.second?.reuse(outer.setIterValue(key, evaluator)).setIterValue(value, evaluator);
    const run = (body: number): unknown => {
      const node = bodies[body];
      return node && inner ? evaluator.run(node, inner) : undefined;
    };
    yield { key, run };
  }
}

function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown, i) => [BigInt(i), item] as const);
  return value instanceof Map ? [...value] : Object.entries(value as object);
}

/** An error counts only where no other round decides. */
function every(rounds: Rounds): boolean {
  let failure: unknown;
  for (const { run } of rounds) {
    try {
      if (run(0) !== true) return false;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return true;
}

function some(rounds: Rounds): boolean {
  let failure: unknown;
  for (const { run } of rounds) {
    try {
      if (run(0) === true) return true;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return false;
}

function count(rounds: Rounds): number {
  let holding = 0;
  for (const { run } of rounds) if (run(0) === true) holding += 1;
  return holding;
}

/** With two bodies the first one chooses. */
function transformed(rounds: Rounds, bodies: number): [unknown, unknown][] {
  const entries: [unknown, unknown][] = [];
  for (const { key, run } of rounds) if (bodies === 1 || run(0) === true) entries.push([key, run(bodies - 1)]);
  return entries;
}

/** The library keeps maps as objects, by the text of their keys. */
function mapOf(entries: readonly (readonly [unknown, unknown])[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    const name = String(key as string);
    if (Object.hasOwn(result, name)) throw new Error(`insert failed: key ${name} already exists`);
    result[name] = value;
  }
  return result;
}

function merged(entries: readonly (readonly [unknown, unknown])[]): Record<string, unknown> {
  return mapOf(entries.flatMap(([, made]) => entriesOf(made)));
}
