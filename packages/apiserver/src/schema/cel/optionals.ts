import { Optional } from "@marcbachmann/cel-js";
import type { CelNode } from "./ast.ts";
import type { CelEnvironment } from "./cel-environment.ts";
import type { Checker, Evaluator, Inner } from "./library.ts";

/** What the library's optional values lack of cel-go's: ofNonZeroValue, optMap and optFlatMap. */
export function registerOptionals(environment: CelEnvironment): void {
  environment.registerFunction("OptionalNamespace.ofNonZeroValue(A): optional<A>", (_: unknown, value: unknown) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  );
  environment.registerFunction("optional.optMap(ast, ast): optional<dyn>", mapping((v) => Optional.of(v)) as never);
  environment.registerFunction("optional.optFlatMap(ast, ast): optional<dyn>", mapping((v) => v) as never);
}

interface Given {
  readonly args: readonly CelNode[];
  readonly receiver: CelNode;
}

interface Mapping extends Given {
  inner?: Inner;
}

function mapping(wrap: (value: unknown) => unknown): (given: Given) => object {
  return ({ args, receiver }) => {
    const [variable, body] = args;
    if (variable?.op !== "id" || !body) throw new Error("the variable of optMap is a name");
    return {
      args,
      receiver,
      async: false,
      typeCheck(checker: Checker, self: Mapping, context: Inner) {
        const { valueType } = checker.check(receiver, context);
        self.inner = context.forkWithVariable(variable.args, valueType ?? checker.getType("dyn"));
        checker.check(body, self.inner);
        return checker.getType("optional<dyn>");
      },
      evaluate(evaluator: Evaluator, self: Mapping, context: Inner) {
        const given = evaluator.run(receiver, context) as { hasValue(): boolean; value(): unknown };
        if (!given.hasValue() || !self.inner) return Optional.none();
        return wrap(evaluator.run(body, self.inner.reuse(context).setIterValue(given.value(), evaluator)));
      },
    };
  };
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  if (typeof value !== "object" || value === null) return !value;
  return Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length === 0;
}
