import { schemaOf, type VariableDefinition } from "./definition.ts";
import { withDefaults } from "./schema.ts";
import { ruleBudget, ruleProblems, type RuleBudget } from "./rules.ts";
import { valueProblems } from "./validate.ts";

/** A variable with any JSON value. */
export interface VariableValue {
  readonly name: string;
  readonly value: unknown;
}

/** Values, and what is wrong with them: a message for each problem, with its path. */
export interface VariableVerdict {
  /** With the defaults of the definitions. */
  readonly values: readonly VariableValue[];
  readonly problems: readonly string[];
}

/**
 * The variables of a Cluster by the definitions of its ClusterClass: those that are missing get their default, if they
 * have one. `old`: the values before a change, which rules compare with.
 */
export function clusterVariables(
  values: readonly VariableValue[],
  definitions: readonly VariableDefinition[],
  { old, budget }: Omit<VariablePlace, "path"> = {},
): VariableVerdict {
  const given = new Set(values.map(({ name }) => name));
  const missing = definitions.flatMap((definition): VariableValue[] => {
    const schema = schemaOf(definition);
    return given.has(definition.name) || schema.default === undefined
      ? []
      : [{ name: definition.name, value: schema.default }];
  });
  const path = "spec.topology.variables";
  const verdict = overrides([...values, ...missing], definitions, { path, old, ...(budget ? { budget } : {}) });
  const named = new Set(verdict.values.map(({ name }) => name));
  const lacking = definitions.filter(({ name, required }) => required && !named.has(name));
  const problems = lacking.map(({ name }) => `${path}: Required value: required variable "${name}" must be set`);
  return { values: verdict.values, problems: [...verdict.problems, ...problems] };
}

/** Where values are, what they were before a change, and what their rules may still cost: all of a Cluster together. */
interface VariablePlace {
  readonly path: string;
  readonly old?: readonly VariableValue[] | undefined;
  readonly budget?: RuleBudget;
}

/** Values for a control plane or workers: a variable that has none there keeps the Cluster's. */
export function overrides(
  values: readonly VariableValue[],
  definitions: readonly VariableDefinition[],
  { path, old = [], budget = ruleBudget() }: VariablePlace,
): VariableVerdict {
  const problems: string[] = [];
  const settled = values.map(({ name, value }): VariableValue => {
    const place = `${path}[${name}].value`;
    const definition = definitions.find((one) => one.name === name);
    if (!definition) {
      problems.push(`${path}[${name}]: Invalid value: ${JSON.stringify(name)}: variable is not defined`);
      return { name, value };
    }
    const schema = schemaOf(definition);
    const whole = withDefaults(value, schema);
    const inValue = valueProblems(whole, schema, place);
    const given = old.find((one) => one.name === name)?.value;
    // Both are compared as the class reads them.
    const before = given === undefined ? undefined : withDefaults(given, schema);
    // Rules may trust the form that the schema promises.
    const inRules =
      inValue.length > 0 ? [] : ruleProblems(schema, { value: whole, old: before }, { path: place, budget });
    problems.push(...inValue, ...inRules);
    return { name, value: whole };
  });
  return { values: settled, problems };
}
