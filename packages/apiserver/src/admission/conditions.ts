import { messageOf } from "@causeway/foundation";
import { records, text } from "../json/json.ts";
import type { Activation, Expression, Expressions, Scope } from "./cel/expressions.ts";

/** One matchCondition of a webhook or a policy. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: Expression;
}

/** Compiles a list of matchConditions; one that does not compile fails whenever it runs. */
export function compileConditions(
  expressions: Expressions,
  conditions: unknown,
  scope: Omit<Scope, "types"> = {},
): readonly MatchCondition[] {
  return records(conditions).map((c) => ({
    name: text(c["name"]),
    expression: expressions.compile(text(c["expression"]).trim(), { ...scope, types: ["bool"] }),
  }));
}

/** Whether an attempt is to be reviewed. */
export interface ConditionsResult {
  readonly matches: boolean;
  /** Set where no condition is false and at least one could not be evaluated. */
  readonly error?: string;
}

/** One "no" is a no, whatever else fails; failures count as the failure policy says. */
export function judgeConditions(conditions: readonly MatchCondition[], activation: () => Activation): ConditionsResult {
  const errors: string[] = [];
  for (const { expression } of conditions) {
    try {
      if (expression.evaluate(activation()) === false) return { matches: false };
    } catch (error) {
      errors.push(messageOf(error));
    }
  }
  const [first] = errors;
  if (first === undefined) return { matches: true };
  return { matches: false, error: errors.length === 1 ? first : `[${[...new Set(errors)].join(", ")}]` };
}
