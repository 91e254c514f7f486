import { callOf, nodesOf, type CelNode } from "./ast.ts";
import type { CelEnvironment } from "./cel-environment.ts";
import type { Checker, Evaluator, Inner } from "./library.ts";

type Select = CelNode & { op: "." };

/** What the macro's evaluation reads of the library's evaluator. */
interface FieldReader extends Evaluator {
  debugType(value: unknown): { fieldLazy(value: unknown, name: string, node: CelNode, evaluator: Evaluator): unknown };
}

/**
 * Parses an expression in which has() may take a field of any expression, as cel-go has it: `has(self[0].name)`. The
 * library takes fields of variables only.
 */
export function parseCel(environment: CelEnvironment, text: string): ReturnType<CelEnvironment["parse"]> {
  const parsed = environment.parse(text);
  for (const node of nodesOf(parsed.ast)) {
    const select = selectedBy(node);
    if (select && rootOf(select).op !== "id") replaceMacro(node, presenceOf(select));
  }
  return parsed;
}

/** Parses an expression, and checks its types. */
export function checkCel(
  environment: CelEnvironment,
  text: string,
): { readonly valid: boolean; readonly error?: unknown } {
  try {
    return parseCel(environment, text).check();
  } catch (error) {
    return { valid: false, error };
  }
}

function selectedBy(node: CelNode): Select | undefined {
  const call = callOf(node);
  const [field] = call?.name === "has" && !call.receiver ? call.args : [];
  return field?.op === "." ? field : undefined;
}

function rootOf(select: Select): CelNode {
  let node: CelNode = select;
  while (node.op === "." || node.op === ".?") [node] = node.args;
  return node;
}

function presenceOf(select: Select): object {
  const [holder, name] = select.args;
  return {
    async: false,
    typeCheck(checker: Checker, _: unknown, context: Inner) {
      checker.check(holder, context);
      return checker.getType("bool");
    },
    evaluate(evaluator: FieldReader, _: unknown, context: Inner) {
      const value = evaluator.run(holder, context);
      return evaluator.debugType(value).fieldLazy(value, name, select, evaluator) !== undefined;
    },
  };
}

/** The library's declarations leave out how a node has its macro. */
function replaceMacro(node: CelNode, macro: object): void {
  (node as unknown as { setMeta(key: string, value: unknown): void }).setMeta("macro", macro);
}
