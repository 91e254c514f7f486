import { compileValueRules, type CheckValue, type RuleBudget } from "@causeway/apiserver/rules";
import type { VariableSchema } from "./schema.ts";

export { ruleBudget, type RuleBudget } from "@causeway/apiserver/rules";

const compiled = new WeakMap<VariableSchema, CheckValue>();

/** Why the CEL rules of a variable's schema do not let a value through; `old`: the value before a change. */
export function ruleProblems(
  schema: VariableSchema,
  change: { readonly value: unknown; readonly old?: unknown },
  place: { readonly path: string; readonly budget: RuleBudget },
): string[] {
  let check = compiled.get(schema);
  if (!check) {
    check = compileValueRules(schema);
    compiled.set(schema, check);
  }
  return check(change, place);
}
