import { type Json, isObject } from "../json/values.ts";
import { OBJECT_LIMIT } from "./cel/program.ts";
import { compileRules, hasRules, SPENT } from "./cel/rules.ts";
import { valueSchemaProblems } from "./definition/open-api.ts";
import { formatFieldError, member } from "./field-error.ts";
import { readNode } from "./node.ts";

/** What the rules of several values may still cost together. */
export interface RuleBudget {
  left: number;
}

/** As much as kube-apiserver lets the rules of one object cost. */
export function ruleBudget(): RuleBudget {
  return { left: OBJECT_LIMIT };
}

/**
 * Why the schema of a value cannot have the CEL rules (`x-kubernetes-validations`) that it has: they do not compile, or
 * their estimated cost is too high. The schema is of a value that is not an object of an API; one without rules is not
 * judged.
 *
 * @example
 *   valueRuleProblems({ type: "integer", "x-kubernetes-validations": [{ rule: "self > 1" }] }, "schema"); // []
 */
export function valueRuleProblems(schema: unknown, path: string): string[] {
  if (!isObject(schema as Json) || !hasRules(readNode(schema))) return [];
  const { schema: inSchema, rules } = valueSchemaProblems(schema as Parameters<typeof valueSchemaProblems>[0], path);
  return [...inSchema, ...rules].map(formatFieldError);
}

/** What of a value the rules of its schema do not let through: one line for each, beginning with its path. */
export type CheckValue = (
  change: { readonly value: unknown; readonly old?: unknown },
  place: { readonly path: string; readonly budget: RuleBudget },
) => string[];

/** The rules of a schema, ready to run: on values whose form is what the schema says. */
export function compileValueRules(schema: unknown): CheckValue {
  const node = readNode(schema);
  if (!hasRules(node)) return () => [];
  const check = compileRules(node, true);
  return ({ value, old }, { path, budget }) => {
    // What was spent by others lets nothing through that is not judged.
    if (budget.left < 0) return [`${path}: Invalid value: ${SPENT}`];
    return check(value as Json, old as Json | undefined, { meter: budget }).map((error) =>
      formatFieldError({ ...error, field: placed(path, error.field) }),
    );
  };
}

/** Paths of members begin with a bracket where they are items of the value. */
function placed(path: string, field: string): string {
  if (field === "") return path;
  return field.startsWith("[") ? path + field : member(path, field);
}
