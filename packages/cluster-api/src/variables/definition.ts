import type { ClusterClass } from "@causeway/api";
import { valueRuleProblems } from "@causeway/apiserver/rules";
import { isRecord, messageOf } from "@causeway/foundation";
import { compilePattern } from "./pattern.ts";
import { ruleBudget, ruleProblems } from "./rules.ts";
import { partsOf, SCHEMA_DEPTH, SCHEMA_SIZE, withDefaults, type VariableSchema } from "./schema.ts";
import { valueProblems } from "./validate.ts";

/** An entry of `spec.variables` of a ClusterClass. */
export type VariableDefinition = NonNullable<ClusterClass["spec"]["variables"]>[number];

const types: ReadonlySet<unknown> = new Set(["object", "array", "string", "integer", "number", "boolean"]);

/** As the user wrote it: definitionProblems says what is wrong with it. */
export function schemaOf(definition: Pick<VariableDefinition, "schema">): VariableSchema {
  return definition.schema.openAPIV3Schema as VariableSchema;
}

/** Why the variables of a ClusterClass cannot be used. */
export function definitionProblems(definitions: readonly VariableDefinition[]): string[] {
  const seen = new Set<string>();
  return definitions.flatMap((definition, at) => {
    const path = `spec.variables[${at}]`;
    const problems: string[] = [];
    const { name } = definition;
    if (name === "builtin")
      problems.push(`${path}.name: Invalid value: "builtin": "builtin" is a reserved variable name`);
    if (name.includes("."))
      problems.push(`${path}.name: Invalid value: ${JSON.stringify(name)}: variable name cannot contain "."`);
    if (seen.has(name))
      problems.push(
        `${path}.name: Invalid value: ${JSON.stringify(name)}: variable names must be unique, "${name}" is defined twice`,
      );
    seen.add(name);
    const inSchema = schemaProblems(schemaOf(definition), `${path}.schema.openAPIV3Schema`, {
      depth: 0,
      count: { left: SCHEMA_SIZE },
    });
    // Rules are compiled for the types that a sound schema declares.
    const inRules =
      inSchema.length === 0 ? valueRuleProblems(schemaOf(definition), `${path}.schema.openAPIV3Schema`) : [];
    const isSound = inSchema.length + inRules.length === 0;
    return [...problems, ...inSchema, ...inRules, ...(isSound ? defaultProblems(schemaOf(definition), path) : [])];
  });
}

/** A default has to be what the rules of its schema let through. */
function defaultProblems(schema: VariableSchema, path: string): string[] {
  if (schema.default === undefined) return [];
  const place = { path: `${path}.schema.openAPIV3Schema.default`, budget: ruleBudget() };
  return ruleProblems(schema, { value: withDefaults(schema.default, schema) }, place);
}

interface Progress {
  readonly depth: number;
  readonly count: { left: number };
}

function schemaProblems(schema: unknown, path: string, { depth, count }: Progress): string[] {
  if (!isRecord(schema)) return [`${path}: Invalid value: must be a schema`];
  if (depth > SCHEMA_DEPTH) return [`${path}: Invalid value: schemas are nested more than ${SCHEMA_DEPTH} deep`];
  count.left -= 1;
  if (count.left < 0) return [`${path}: Invalid value: a variable has at most ${SCHEMA_SIZE} schemas`];
  const checked = schema as VariableSchema;
  const own = ownProblems(checked, path);
  const parts = partsOf(checked).flatMap(([place, part]) =>
    schemaProblems(part, `${path}.${place}`, { depth: depth + 1, count }),
  );
  if (own.length + parts.length > 0 || checked.default === undefined) return [...own, ...parts];
  return valueProblems(checked.default, checked, `${path}.default`);
}

function ownProblems(schema: VariableSchema, path: string): string[] {
  const problems: string[] = [];
  if (schema.type !== undefined && !types.has(schema.type))
    problems.push(`${path}.type: Unsupported value: ${JSON.stringify(schema.type)}`);
  if (schema.pattern !== undefined) {
    try {
      compilePattern(schema.pattern);
    } catch (error) {
      problems.push(`${path}.pattern: Invalid value: ${JSON.stringify(schema.pattern)}: ${messageOf(error)}`);
    }
  }
  return problems;
}
