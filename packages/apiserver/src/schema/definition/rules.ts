import { isList, isObject, type JsonObject, own } from "../../json/values.ts";
import { nodesOf } from "../cel/ast.ts";
import { estimateCost } from "../cel/cost.ts";
import { declare, type Declared, REQUEST, typedEnvironment } from "../cel/declared.ts";
import type { CelEnvironment } from "../cel/cel-environment.ts";
import { presenceProblem } from "../cel/presence.ts";
import { compileProblem } from "../cel/problems.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { readNode, type CelRule } from "../node.ts";
import { costProblem, type Cardinality, childCardinality, RULE_LIMIT, TotalCost, times } from "./costs.ts";
import { followPath } from "./field-path.ts";
import { parseCel } from "../cel/has.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Where rules are: how often their schema's values can be there, and what all rules of the version cost. */
export interface RuleScope {
  readonly schema: JsonObject;
  readonly isObjectRoot: boolean;
  readonly cardinality: Cardinality;
  readonly total: TotalCost;
}

/** The root: one value. That of an object has apiVersion, kind and metadata. */
export function scopeOf(schema: JsonObject, isObjectRoot = true): RuleScope {
  return { schema, isObjectRoot, cardinality: 1, total: new TotalCost() };
}

/** One step down, into a property of an object. */
export function scopeOfProperty(scope: RuleScope, _name: string, schema: JsonObject): RuleScope {
  return below(scope, schema);
}

/** One step down, into the items of a list. */
export function scopeOfItems(scope: RuleScope, schema: JsonObject): RuleScope {
  return below(scope, schema);
}

/** One step down, into the values of a map. */
export function scopeOfValues(scope: RuleScope, schema: JsonObject): RuleScope {
  return below(scope, schema);
}

function below({ schema: parent, cardinality, total }: RuleScope, schema: JsonObject): RuleScope {
  const isObjectRoot = own(schema, "x-kubernetes-embedded-resource") === true;
  return { schema, isObjectRoot, cardinality: childCardinality(cardinality, parent), total };
}

interface Place {
  readonly path: string;
  readonly uncorrelated: string | undefined;
  /** Absent where the schema is broken: then only the words of the rules are checked. */
  readonly scope: RuleScope | undefined;
}

/** What is wrong with the x-kubernetes-validations of one schema. */
export function ruleProblems(schema: JsonObject, place: Place): { schema: FieldError[]; rules: FieldError[] } {
  const node = readNode(schema);
  const wire = own(schema, "x-kubernetes-validations");
  const given = isList(wire) ? wire.filter(isObject) : [];
  const at = (i: number): string => `${place.path}.x-kubernetes-validations[${i}]`;
  const words = given.flatMap((rule, i) => wordProblems(schema, rule, at(i)));
  if (words.length > 0 || !place.scope) return { schema: words, rules: [] };
  const declared = declare(node, place.scope.isObjectRoot);
  if (!declared) return { schema: [], rules: node.rules.length === 0 ? [] : [untyped(place.path)] };
  const environments = environmentsOf(declared);
  const rules = node.rules.flatMap((rule, i) =>
    expressionProblems(rule, { ...place, path: at(i), declared, environment: environments(rule) }),
  );
  return { schema: [], rules };
}

/** Rules about what has no type that rules could see. */
function untyped(path: string): FieldError {
  const why = "failed to construct type information for x-kubernetes-validations rules";
  const message = `Internal error: internal error: ${why}: unable to convert structural schema to CEL declarations`;
  return { reason: "InternalError", field: `${path}.x-kubernetes-validations`, message };
}

function wordProblems(schema: JsonObject, rule: JsonObject, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const [text, message] = [given(rule, "rule"), given(rule, "message")];
  const said = (message ?? "").trim();
  const breaks = (value: string): boolean => /[\n\r]/.test(value);
  if ((text ?? "").trim() === "") errors.push(required(`${at}.rule`, "rule is not specified"));
  else if (message && said === "") errors.push(invalid(`${at}.message`, message, "must be non-empty if specified"));
  else if (breaks(said)) errors.push(invalid(`${at}.message`, message, "must not contain line breaks"));
  else if (breaks((text ?? "").trim()) && said === "") {
    errors.push(required(`${at}.message`, "message must be specified if rule contains line breaks"));
  }
  const expression = given(rule, "messageExpression");
  if (expression && expression.trim() === "") {
    errors.push(required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  const reason = given(rule, "reason");
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(notSupported(`${at}.reason`, reason, REASONS));
  }
  const fieldPath = given(rule, "fieldPath");
  if (!fieldPath) return errors;
  const wrong = (why: string): FieldError => invalid(`${at}.fieldPath`, fieldPath, why);
  if (fieldPath.trim() === "") errors.push(wrong("must be non-empty if specified"));
  if (breaks(fieldPath)) errors.push(wrong("must not contain line breaks"));
  if (typeof followPath(readNode(schema), fieldPath) === "string") errors.push(wrong("must be a valid path"));
  return errors;
}

function given(rule: JsonObject, name: string): string | undefined {
  const value = own(rule, name);
  return typeof value === "string" ? value : undefined;
}

function environmentsOf(declared: Declared): (rule: CelRule) => CelEnvironment {
  const made = new Map<boolean, CelEnvironment>();
  return ({ optionalOldSelf = false }) => {
    const environment = made.get(optionalOldSelf) ?? typedEnvironment(declared, optionalOldSelf);
    made.set(optionalOldSelf, environment);
    return environment;
  };
}

interface RulePlace extends Place {
  readonly declared: Declared;
  readonly environment: CelEnvironment;
}

interface Compiled {
  /** The most that it can cost; nothing when it does not compile. */
  readonly cost: number;
  readonly problem?: string;
  readonly usesOldSelf: boolean;
}

function expressionProblems(rule: CelRule, compiling: RulePlace): FieldError[] {
  const { path, scope, declared } = compiling;
  const most = (cost: number): number =>
    times(cost, scope?.cardinality ?? Math.floor(REQUEST / (declared.minBytes + 1)));
  const compiled = compile(rule.rule, "bool", compiling);
  const cost = most(compiled.cost);
  scope?.total.observe(`${path}.rule`, cost);
  const errors: FieldError[] = [];
  if (cost > RULE_LIMIT) errors.push(forbidden(`${path}.rule`, costProblem("estimated rule cost", cost, RULE_LIMIT)));
  if (compiled.problem !== undefined) errors.push(invalid(`${path}.rule`, wireOf(rule), compiled.problem));
  else if (rule.messageExpression !== undefined) errors.push(...messageProblems(rule, compiling));
  return [...errors, ...oldSelfProblems(rule, compiled, compiling)];
}

function messageProblems(rule: CelRule, compiling: RulePlace): FieldError[] {
  const at = `${compiling.path}.messageExpression`;
  const { problem, cost } = compile(rule.messageExpression ?? "", "string", compiling);
  if (problem !== undefined) return [invalid(at, wireOf(rule), problem)];
  compiling.scope?.total.observe(at, cost);
  return cost > RULE_LIMIT ? [forbidden(at, costProblem("estimated messageExpression cost", cost, RULE_LIMIT))] : [];
}

function oldSelfProblems(rule: CelRule, { usesOldSelf }: Compiled, { path, uncorrelated }: RulePlace): FieldError[] {
  if (!usesOldSelf) {
    if (rule.optionalOldSelf === undefined) return [];
    const why = "may not be set if oldSelf is not used in rule";
    return [invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, why)];
  }
  if (uncorrelated === undefined) return [];
  const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
  return [invalid(`${path}.rule`, rule.rule, why)];
}

const COMPILATION = { bool: "compilation failed: ", string: "messageExpression compilation failed: " };
const RESULT = {
  bool: "cel expression must evaluate to a bool",
  string: "messageExpression must evaluate to a string",
};

function compile(text: string, wanted: "bool" | "string", { environment, declared }: RulePlace): Compiled {
  const problem = compileProblem(environment, text);
  if (problem !== undefined) return { cost: 0, problem: COMPILATION[wanted] + problem, usesOldSelf: false };
  const program = parseCel(environment, text);
  const { type } = program.check();
  const absent = presenceProblem(program.ast, declared, text);
  if (absent !== undefined) return { cost: 0, problem: COMPILATION[wanted] + absent, usesOldSelf: false };
  if (type !== wanted) return { cost: 0, problem: RESULT[wanted], usesOldSelf: false };
  const usesOldSelf = [...nodesOf(program.ast)].some((n) => n.op === "id" && n.args === "oldSelf");
  return { cost: estimateCost(program.ast, declared), usesOldSelf };
}

/** As messages show a rule. */
function wireOf(rule: CelRule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
