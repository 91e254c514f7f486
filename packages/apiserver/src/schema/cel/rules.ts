import { Optional } from "@marcbachmann/cel-js";
import { messageOf } from "@causeway/foundation";
import { isList, isObject, type Json, own } from "../../patch/json.ts";
import { duplicate, type FieldError, forbidden, invalid, required } from "../field-error.ts";
import type { CelRule, SchemaNode } from "../node.ts";
import { type CelEnvironment, type CelEnvironments, createEnvironments } from "./environment.ts";
import { toCel } from "./values.ts";

type Program = (context: { self: unknown; oldSelf?: unknown }) => unknown;

interface CompiledRule {
  readonly rule: CelRule;
  readonly usesOldSelf: boolean;
  readonly run: Program;
  readonly message?: Program;
}

/** The nodes that have rules, or something below that does. */
interface RuleNode {
  readonly node: SchemaNode;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional?: RuleNode;
  readonly items?: RuleNode;
}

/** True if the schema has rules anywhere. */
export function hasRules(node: SchemaNode): boolean {
  if (node.rules.length > 0) return true;
  if (node.items !== undefined && hasRules(node.items)) return true;
  if (typeof node.additional === "object" && hasRules(node.additional)) return true;
  return [...node.properties.values()].some(hasRules);
}

/** The checks of all `x-kubernetes-validations` of a schema. Rules that mention `oldSelf` run only where there is an old value to compare. */
export function compileRules(root: SchemaNode): (value: Json, old: Json | undefined) => FieldError[] {
  if (!hasRules(root)) return () => [];
  const environments = createEnvironments();
  const compiled = compileNode(environments, root);
  if (compiled === undefined) return () => [];
  return (value, old) => runNode({ environment: environments.of({}), errors: [] }, compiled, { value, old, path: "" });
}

function compileNode(environments: CelEnvironments, node: SchemaNode): RuleNode | undefined {
  if (!hasRules(node)) return undefined;
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of node.properties) {
    const compiled = compileNode(environments, property);
    if (compiled !== undefined) properties.set(name, compiled);
  }
  const additional = typeof node.additional === "object" ? compileNode(environments, node.additional) : undefined;
  const items = node.items === undefined ? undefined : compileNode(environments, node.items);
  return {
    node,
    rules: node.rules.map((rule) => compileRule(environments, rule)),
    properties,
    ...(additional === undefined ? {} : { additional }),
    ...(items === undefined ? {} : { items }),
  };
}

function compileRule(environments: CelEnvironments, rule: CelRule): CompiledRule {
  return {
    rule,
    usesOldSelf: /\boldSelf\b/.test(rule.rule),
    run: parse(environments.of(rule), rule.rule),
    ...(rule.messageExpression === undefined ? {} : { message: parse(environments.of(rule), rule.messageExpression) }),
  };
}

/** A rule that does not parse fails whenever it runs: a broken schema must not let everything through. */
function parse(environment: CelEnvironment, expression: string): Program {
  try {
    return environment.parse(expression);
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

interface Run {
  readonly environment: CelEnvironment;
  readonly errors: FieldError[];
}

interface Place {
  readonly value: Json;
  readonly old: Json | undefined;
  readonly path: string;
}

function runNode(run: Run, compiled: RuleNode, place: Place): FieldError[] {
  const { value, old, path } = place;
  if (value === null) return run.errors;
  if (compiled.rules.length > 0) runRules(run, compiled, place);
  if (isList(value)) {
    const { items, node } = compiled;
    if (items === undefined) return run.errors;
    for (const [i, item] of value.entries()) {
      runNode(run, items, { value: item, old: correlated(node, item, old), path: `${path}[${i}]` });
    }
  } else if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      const property = compiled.properties.get(name);
      const below = property ?? (compiled.node.properties.has(name) ? undefined : compiled.additional);
      if (below === undefined) continue;
      const childPath = property === undefined ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
      runNode(run, below, { value: child, old: isObject(old) ? own(old, name) : undefined, path: childPath });
    }
  }
  return run.errors;
}

/** The old item that is the same one: only items of lists of type map have an identity. */
function correlated(node: SchemaNode, item: Json, old: Json | undefined): Json | undefined {
  if (node.listType !== "map" || !isList(old) || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && node.listKeys.every((key) => own(other, key) === own(item, key)));
}

function runRules(run: Run, compiled: RuleNode, place: Place): void {
  const { environment } = run;
  const self = toCel(environment, compiled.node, place.value);
  const oldSelf = place.old === undefined ? undefined : toCel(environment, compiled.node, place.old);
  for (const entry of compiled.rules) {
    if (entry.usesOldSelf && oldSelf === undefined && entry.rule.optionalOldSelf !== true) continue;
    const context = { self, ...(entry.usesOldSelf ? { oldSelf: oldOf(entry.rule, oldSelf) } : {}) };
    const failure = judge(entry, context);
    if (failure !== undefined)
      run.errors.push(fieldErrorOf(entry.rule, compiled.node, { ...place, path: place.path }, failure));
  }
}

function oldOf(rule: CelRule, oldSelf: unknown): unknown {
  if (rule.optionalOldSelf !== true) return oldSelf;
  return oldSelf === undefined ? Optional.none() : Optional.of(oldSelf);
}

/** The message of a rule that does not hold. */
function judge(entry: CompiledRule, context: { self: unknown; oldSelf?: unknown }): string | undefined {
  try {
    const result = entry.run(context);
    if (result === true) return undefined;
    if (result !== false) return `rule must evaluate to a bool: ${entry.rule.rule}`;
  } catch (error) {
    const [summary] = messageOf(error).split("\n");
    return `${summary} evaluating rule: ${entry.rule.message ?? entry.rule.rule}`;
  }
  return customMessage(entry, context) ?? entry.rule.message ?? `failed rule: ${entry.rule.rule.trim()}`;
}

function customMessage(entry: CompiledRule, context: { self: unknown; oldSelf?: unknown }): string | undefined {
  try {
    const text = entry.message?.(context);
    return typeof text === "string" && text.trim() !== "" && !text.includes("\n") ? text : undefined;
  } catch {
    // As kube-apiserver: a message that cannot be computed gives way to the fixed one.
    return undefined;
  }
}

function fieldErrorOf(rule: CelRule, node: SchemaNode, place: Place, message: string): FieldError {
  const field = place.path + (rule.fieldPath ?? "");
  const shown = place.path === "" ? field.replace(/^\./, "") : field;
  switch (rule.reason ?? "FieldValueInvalid") {
    case "FieldValueRequired":
      return required(shown, message);
    case "FieldValueForbidden":
      return forbidden(shown, message);
    case "FieldValueDuplicate":
      return duplicate(shown, valueShown(node, place.value));
    default:
      return invalid(shown, valueShown(node, place.value), message);
  }
}

/** Messages show the type, never the value: it may be large, or a secret. */
function valueShown(node: SchemaNode, value: Json): string {
  if (node.type !== undefined) return node.type;
  if (isList(value)) return "array";
  return typeof value === "number" ? "integer" : typeof value;
}
