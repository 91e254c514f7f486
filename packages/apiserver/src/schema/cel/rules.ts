import { Optional } from "@marcbachmann/cel-js";
import { messageOf } from "@causeway/foundation";
import { extentOf } from "../../bounds.ts";
import { isList, isObject, type Json } from "../../json/values.ts";
import {
  duplicate,
  type FieldError,
  forbidden,
  formatFieldError,
  invalid,
  item,
  member,
  required,
} from "../field-error.ts";
import { followPath } from "../definition/field-path.ts";
import { isUnchanged, type Memory, oldItems, oldMember } from "../correlate.ts";
import type { CelRule, SchemaNode } from "../node.ts";
import { type CelEnvironments, createEnvironments } from "./environment.ts";
import type { CelEnvironment } from "./cel-environment.ts";
import { declare, typedEnvironment } from "./declared.ts";
import { presenceProblem } from "./presence.ts";
import { compileProblem } from "./problems.ts";
import { CostError } from "./cost-error.ts";
import { compileProgram, type Meter, OBJECT_LIMIT, type Program } from "./program.ts";
import { toCel } from "./values.ts";
import { parseCel } from "./has.ts";

interface CompiledRule {
  readonly rule: CelRule;
  readonly usesOldSelf: boolean;
  readonly run: Program;
  readonly message?: Program;
  /** The path of its failures, below the value. */
  readonly fieldPath?: string;
}

/** The nodes that have rules, or something below that does. */
interface RuleNode {
  readonly node: SchemaNode;
  readonly rules: readonly CompiledRule[];
  /** Why rules do not compile, by their places; absent where the schema is known to be a good one. */
  readonly faults?: readonly (string | undefined)[];
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

/**
 * What the rules find wrong. With `warn`, what was wrong before and did not change is warned of and let through
 * (KEP-4008).
 */
export type CheckRules = (value: Json, old: Json | undefined, options?: RunOptions) => FieldError[];

/** `meter`: what several values may cost together; by default each has a budget of its own. */
interface RunOptions {
  readonly warn?: (message: string) => void;
  readonly meter?: Meter;
}

/**
 * The checks of all `x-kubernetes-validations` of a schema. Rules that mention `oldSelf` run only where there is an old
 * value to compare. Of an unchecked schema, rules may not compile: that is an error of the values that they validate.
 */
export function compileRules(root: SchemaNode, isUnchecked = false): CheckRules {
  if (!hasRules(root)) return () => [];
  const environments = createEnvironments();
  const compiled = compileNode(environments, root, isUnchecked);
  if (compiled === undefined) return () => [];
  return (value, old, { warn, meter = { left: OBJECT_LIMIT } } = {}) => {
    const run: Run = {
      environment: environments.of({}),
      errors: [],
      meter,
      memory: new Map(),
      ...(warn ? { warn } : {}),
    };
    return runNode(run, compiled, {
      value,
      old,
      path: "",
      nearest: old === undefined ? undefined : { node: root, value, old },
    });
  };
}

function compileNode(environments: CelEnvironments, node: SchemaNode, isUnchecked: boolean): RuleNode | undefined {
  if (!hasRules(node)) return undefined;
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of node.properties) {
    const compiled = compileNode(environments, property, isUnchecked);
    if (compiled !== undefined) properties.set(name, compiled);
  }
  const additional =
    typeof node.additional === "object" ? compileNode(environments, node.additional, isUnchecked) : undefined;
  const items = node.items === undefined ? undefined : compileNode(environments, node.items, isUnchecked);
  return {
    node,
    rules: node.rules.map((rule) => compileRule(environments, rule, node)),
    ...(isUnchecked ? { faults: node.rules.map((rule) => ruleFault(rule, node)) } : {}),
    properties,
    ...(additional === undefined ? {} : { additional }),
    ...(items === undefined ? {} : { items }),
  };
}

function ruleFault({ rule, optionalOldSelf = false }: CelRule, node: SchemaNode): string | undefined {
  const declared = declare(node, node.embedded);
  if (!declared) return undefined;
  const environment = typedEnvironment(declared, optionalOldSelf);
  const problem = compileProblem(environment, rule);
  return problem ?? presenceProblem(parseCel(environment, rule).ast, declared, rule);
}

function compileRule(environments: CelEnvironments, rule: CelRule, node: SchemaNode): CompiledRule {
  const found = rule.fieldPath === undefined ? undefined : followPath(node, rule.fieldPath);
  return {
    ...(typeof found === "object" ? { fieldPath: found.path } : {}),
    rule,
    usesOldSelf: /\boldSelf\b/.test(rule.rule),
    run: parse(environments.of(rule), rule.rule),
    ...(rule.messageExpression === undefined ? {} : { message: parse(environments.of(rule), rule.messageExpression) }),
  };
}

/** A rule that does not parse fails whenever it runs: a broken schema must not let everything through. */
function parse(environment: CelEnvironment, expression: string): Program {
  try {
    return compileProgram(environment, expression);
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

interface Run {
  readonly environment: CelEnvironment;
  readonly errors: FieldError[];
  /** What all rules of the object may still cost. */
  readonly meter: Meter;
  readonly memory: Memory;
  readonly warn?: (message: string) => void;
}

/** Bytes of a value that are made a value of CEL at the cost of one step. */
const CONVERTED_AT_ONCE = 10;

/** As many errors as are collected. */
const MAXIMUM_ERRORS = 1000;

interface Place {
  readonly value: Json;
  readonly old: Json | undefined;
  readonly path: string;
  /** The closest value from here upwards of which the old one is known. */
  readonly nearest: Correlated | undefined;
}

interface Correlated {
  readonly node: SchemaNode;
  readonly value: Json;
  readonly old: Json;
}

interface Below {
  readonly node: SchemaNode;
  readonly old: Json | undefined;
  readonly path: string;
}

function below(place: Place, value: Json, { node, old, path }: Below): Place {
  return { value, old, path, nearest: old === undefined ? place.nearest : { node, value, old } };
}

function runNode(run: Run, compiled: RuleNode, place: Place): FieldError[] {
  const { value, old, path } = place;
  if (value === null || run.meter.left < 0 || run.errors.length >= MAXIMUM_ERRORS) return run.errors;
  if (compiled.rules.length > 0) runRules(run, compiled, place);
  if (isList(value)) {
    const { items, node } = compiled;
    if (items === undefined) return run.errors;
    const oldOf = oldItems(node, old);
    for (const [i, child] of value.entries()) {
      runNode(run, items, below(place, child, { node: items.node, old: oldOf(child), path: item(path, i) }));
    }
  } else if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      const property = compiled.properties.get(name);
      const inner = property ?? (compiled.node.properties.has(name) ? undefined : compiled.additional);
      if (inner === undefined) continue;
      const childPath = property === undefined ? item(path, name) : member(path, name);
      const was = oldMember(name, old);
      runNode(run, inner, below(place, child, { node: inner.node, old: was, path: childPath }));
    }
  }
  return run.errors;
}

function runRules(run: Run, compiled: RuleNode, place: Place): void {
  const { environment } = run;
  // Each level that has rules makes values of all that is below it.
  run.meter.left -= Math.ceil(extentOf(place.value).bytes / CONVERTED_AT_ONCE);
  const self = toCel(environment, compiled.node, place.value);
  // What was null was nothing.
  const oldSelf =
    place.old === undefined || place.old === null ? undefined : toCel(environment, compiled.node, place.old);
  for (const [i, entry] of compiled.rules.entries()) {
    const fault = compiled.faults?.[i];
    if (fault !== undefined) {
      const why = `rule compile error: compilation failed: ${fault}`;
      run.errors.push(invalid(place.path, valueShown(compiled.node, place.value), why));
      continue;
    }
    if (entry.usesOldSelf && oldSelf === undefined && entry.rule.optionalOldSelf !== true) continue;
    const context = { self, ...(entry.usesOldSelf ? { oldSelf: oldOf(entry.rule, oldSelf) } : {}) };
    const failure = judge(entry, context, run.meter);
    if (failure === undefined) continue;
    if (run.meter.left < 0)
      run.errors.push(invalid(place.path, valueShown(compiled.node, place.value), failure.message));
    else report(run, entry, { failure, place, node: compiled.node });
    if (run.meter.left < 0) return;
  }
}

interface RuleFailure {
  readonly failure: Failure;
  readonly place: Place;
  readonly node: SchemaNode;
}

function report(run: Run, entry: CompiledRule, { failure, place, node }: RuleFailure): void {
  if (failure.isError) {
    run.errors.push(invalid(place.path, valueShown(node, place.value), failure.message));
    return;
  }
  const error = fieldErrorOf(entry, node, place, failure.message);
  const { nearest } = place;
  const unchanged = !entry.usesOldSelf && nearest !== undefined && isUnchanged(nearest.node, nearest, run.memory);
  if (unchanged && run.warn) run.warn(formatFieldError(error));
  else run.errors.push(error);
}

function oldOf(rule: CelRule, oldSelf: unknown): unknown {
  if (rule.optionalOldSelf !== true) return oldSelf;
  return oldSelf === undefined ? Optional.none() : Optional.of(oldSelf);
}

interface Failure {
  readonly message: string;
  /** It could not be evaluated; else it does not hold. */
  readonly isError: boolean;
}

/** The message of what is not judged any more. */
export const SPENT = "validation failed due to running out of cost budget, no further validation rules will be run";

/** Why a rule lets nothing through; undefined when it holds. */
function judge(entry: CompiledRule, context: Activation, meter: Meter): Failure | undefined {
  const failed = (message: string): Failure => ({ message, isError: true });
  const { rule } = entry;
  const name = rule.message?.trim() ?? rule.rule;
  try {
    const result = entry.run(context, meter);
    if (meter.left < 0) return failed(SPENT);
    if (result === true) return undefined;
    if (result !== false) return failed(`rule must evaluate to a bool: ${rule.rule}`);
  } catch (error) {
    if (error instanceof CostError || meter.left < 0) {
      const spent = meter.left < 0;
      meter.left = -1;
      const why = `'${messageOf(error)}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`;
      return failed(spent ? SPENT : why);
    }
    return failed(evaluationProblem(error, name));
  }
  const message = customMessage(entry, context, meter) ?? rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`;
  return { message, isError: false };
}

type Activation = { readonly self: unknown; readonly oldSelf?: unknown };

/** What an evaluation failed with, in cel-go's words. */
function evaluationProblem(error: unknown, name: string): string {
  const [summary = ""] = messageOf(error).split("\n");
  if (summary.startsWith("no such overload")) {
    const reason = "no such overload";
    return `'${reason}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
  }
  const index = /^No such key: index out of bounds, index (-?\d+)/.exec(summary)?.[1];
  const reason =
    index === undefined ? summary.replace(/^No such key: /, "no such key: ") : `index out of bounds: ${index}`;
  return `${reason} evaluating rule: ${name}`;
}

function customMessage(entry: CompiledRule, context: Activation, meter: Meter): string | undefined {
  try {
    const text = entry.message?.(context, meter);
    return typeof text === "string" && text.trim() !== "" && !text.includes("\n") ? text : undefined;
  } catch {
    // As kube-apiserver: a message that cannot be computed gives way to the fixed one.
    return undefined;
  }
}

function fieldErrorOf(entry: CompiledRule, node: SchemaNode, place: Place, message: string): FieldError {
  const shown = entry.fieldPath === undefined ? place.path : member(place.path, entry.fieldPath);
  switch (entry.rule.reason ?? "FieldValueInvalid") {
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
