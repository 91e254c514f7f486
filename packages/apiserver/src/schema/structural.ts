import { isList, isObject, type Json, type JsonObject, own } from "../patch/json.ts";
import { checkExpression } from "./cel/rules.ts";
import { createEnvironments, type CelEnvironments } from "./cel/environment.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "./field-error.ts";
import { readNode } from "./node.ts";
import { compilePattern } from "./regexp.ts";
import { pruneValue } from "./prune.ts";
import { validateValue } from "./validate.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const LIST_TYPES = ["atomic", "map", "set"];
const MAP_TYPES = ["atomic", "granular"];
const JUNCTORS = ["allOf", "anyOf", "oneOf"] as const;
/** What a schema inside allOf, anyOf, oneOf or not may not say: the structure stands outside of them. */
const STRUCTURE = [
  "type",
  "default",
  "title",
  "description",
  "nullable",
  "additionalProperties",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
];

interface Check {
  readonly errors: FieldError[];
  readonly environments: CelEnvironments;
}

/**
 * What keeps a schema from being a structural one (KEP-1693): missing types, structure inside of junctors, what v1 forbids, broken patterns,
 * defaults that the schema itself refuses, CEL rules that do not compile. `path` is where the schema stands in its object.
 */
export function validateCustomResourceDefinitionSchema(schema: unknown, path = "openAPIV3Schema"): FieldError[] {
  if (!isObject(schema)) return [required(path, "schemas are required")];
  const check: Check = { errors: [], environments: createEnvironments() };
  if (own(schema, "type") !== "object") {
    const type = own(schema, "type");
    check.errors.push(
      type === undefined
        ? required(`${path}.type`, "must not be empty at the root")
        : invalid(`${path}.type`, type, "must be object at the root"),
    );
  }
  checkSchema(check, schema, path);
  return check.errors;
}

function checkSchema(check: Check, schema: JsonObject, path: string): void {
  checkType(check, schema, path);
  checkForbidden(check, schema, path);
  checkValueRules(check, schema, path);
  checkLists(check, schema, path);
  checkExtensions(check, schema, path);
  for (const [child, childPath] of childrenOf(schema, path)) checkSchema(check, child, childPath);
  for (const [junctor, junctorPath] of junctorsOf(schema, path)) checkJunctor(check, schema, { junctor, junctorPath });
}

function* childrenOf(schema: JsonObject, path: string): Generator<[JsonObject, string]> {
  const properties = own(schema, "properties");
  if (isObject(properties)) {
    for (const [name, child] of Object.entries(properties)) {
      if (isObject(child)) yield [child, `${path}.properties[${name}]`];
    }
  }
  const items = own(schema, "items");
  if (isObject(items)) yield [items, `${path}.items`];
  const additional = own(schema, "additionalProperties");
  if (isObject(additional)) yield [additional, `${path}.additionalProperties`];
}

function* junctorsOf(schema: JsonObject, path: string): Generator<[JsonObject, string]> {
  for (const name of JUNCTORS) {
    const list = own(schema, name);
    if (!isList(list)) continue;
    for (const [i, junctor] of list.entries()) if (isObject(junctor)) yield [junctor, `${path}.${name}[${i}]`];
  }
  const not = own(schema, "not");
  if (isObject(not)) yield [not, `${path}.not`];
}

function checkType(check: Check, schema: JsonObject, path: string): void {
  const type = own(schema, "type");
  const free =
    own(schema, "x-kubernetes-int-or-string") === true || own(schema, "x-kubernetes-preserve-unknown-fields") === true;
  if (type === undefined || type === "") {
    if (!free && !path.endsWith("openAPIV3Schema")) {
      check.errors.push(required(`${path}.type`, "must not be empty for specified object fields"));
    }
  } else if (typeof type !== "string" || !TYPES.includes(type)) {
    check.errors.push(notSupported(`${path}.type`, type, TYPES));
  } else if (own(schema, "x-kubernetes-int-or-string") === true) {
    check.errors.push(forbidden(`${path}.type`, "must be empty if x-kubernetes-int-or-string is true"));
  }
  if (type === "array" && !isObject(own(schema, "items"))) {
    check.errors.push(required(`${path}.items`, "must be specified"));
  }
}

function checkForbidden(check: Check, schema: JsonObject, path: string): void {
  if (own(schema, "uniqueItems") === true) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    check.errors.push(forbidden(`${path}.uniqueItems`, why));
  }
  if (own(schema, "additionalProperties") === false) {
    check.errors.push(forbidden(`${path}.additionalProperties`, "additionalProperties cannot be set to false"));
  }
  const properties = own(schema, "properties");
  const additional = own(schema, "additionalProperties");
  if (isObject(properties) && Object.keys(properties).length > 0 && (additional === true || isObject(additional))) {
    check.errors.push(
      forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  }
  for (const name of ["$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id"]) {
    if (own(schema, name) !== undefined) check.errors.push(forbidden(`${path}.${name}`, `${name} is not supported`));
  }
  if (isList(own(schema, "items"))) {
    check.errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  }
}

function checkValueRules(check: Check, schema: JsonObject, path: string): void {
  const pattern = own(schema, "pattern");
  if (typeof pattern === "string") {
    try {
      compilePattern(pattern);
    } catch (error) {
      const detail = `must be a valid regular expression, but isn't: ${error instanceof Error ? error.message : ""}`;
      check.errors.push(invalid(`${path}.pattern`, pattern, detail));
    }
  }
  const standard = own(schema, "default");
  if (standard === undefined || standard === null) return;
  const node = readNode(schema);
  const unknown: string[] = [];
  pruneValue(node, standard, { path: `${path}.default`, isObjectRoot: node.embedded }, (field) => unknown.push(field));
  for (const field of unknown) check.errors.push(invalid(field, standard, "must be pruned, it is an unknown field"));
  for (const error of validateValue(node, standard, `${path}.default`)) check.errors.push(error);
}

function checkLists(check: Check, schema: JsonObject, path: string): void {
  const listType = own(schema, "x-kubernetes-list-type");
  const keys = own(schema, "x-kubernetes-list-map-keys");
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (listType === undefined) {
    if (isList(keys)) check.errors.push(forbidden(at, "must not be set if x-kubernetes-list-type is not map"));
    return;
  }
  if (typeof listType !== "string" || !LIST_TYPES.includes(listType)) {
    check.errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, LIST_TYPES));
    return;
  }
  if (own(schema, "type") !== "array") {
    const why = `must be array if x-kubernetes-list-type is specified`;
    check.errors.push(invalid(`${path}.type`, own(schema, "type") ?? "", why));
  }
  if (listType !== "map") return;
  if (!isList(keys) || keys.length === 0) {
    check.errors.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
    return;
  }
  checkListKeys(check, schema, { keys, at });
}

function checkListKeys(check: Check, schema: JsonObject, where: { keys: readonly Json[]; at: string }): void {
  const items = own(schema, "items");
  const node = readNode(items);
  for (const [i, key] of where.keys.entries()) {
    const property = typeof key === "string" ? node.properties.get(key) : undefined;
    if (property === undefined) {
      check.errors.push(invalid(`${where.at}[${i}]`, key, "must be the name of a property of the items"));
    } else if (property.default === undefined && typeof key === "string" && !node.required.includes(key)) {
      const why = "this property must have a default or be a required property";
      check.errors.push(
        required(where.at.replace("x-kubernetes-list-map-keys", `items.properties[${key}].default`), why),
      );
    }
  }
}

function checkExtensions(check: Check, schema: JsonObject, path: string): void {
  const mapType = own(schema, "x-kubernetes-map-type");
  if (mapType !== undefined && (typeof mapType !== "string" || !MAP_TYPES.includes(mapType))) {
    check.errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, MAP_TYPES));
  }
  if (own(schema, "x-kubernetes-preserve-unknown-fields") === false) {
    check.errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  if (own(schema, "x-kubernetes-embedded-resource") === true && own(schema, "type") !== "object") {
    check.errors.push(
      invalid(`${path}.type`, own(schema, "type") ?? "", "must be object if x-kubernetes-embedded-resource is true"),
    );
  }
  for (const [i, rule] of readNode(schema).rules.entries()) {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    if (rule.rule.trim() === "") {
      check.errors.push(required(`${at}.rule`, "rule is not specified"));
      continue;
    }
    const problem = checkExpression(check.environments.of(rule), rule.rule);
    if (problem !== undefined)
      check.errors.push(invalid(`${at}.rule`, rule.rule, `compilation failed: ERROR: ${problem}`));
    const message = rule.messageExpression;
    const messageProblem = message === undefined ? undefined : checkExpression(check.environments.of(rule), message);
    if (messageProblem !== undefined) {
      check.errors.push(
        invalid(`${at}.messageExpression`, message, `messageExpression compilation failed: ${messageProblem}`),
      );
    }
  }
}

/** Inside a junctor only values are judged, and only of fields that stand in the structure outside. */
function checkJunctor(check: Check, structure: JsonObject, at: { junctor: JsonObject; junctorPath: string }): void {
  const { junctor, junctorPath } = at;
  const intOrString = own(structure, "x-kubernetes-int-or-string") === true;
  for (const name of STRUCTURE) {
    if (own(junctor, name) === undefined || (name === "type" && intOrString)) continue;
    check.errors.push(forbidden(`${junctorPath}.${name}`, "must be empty to be structural"));
  }
  checkPattern(check, junctor, junctorPath);
  const outer = own(structure, "properties");
  const inner = own(junctor, "properties");
  if (isObject(inner)) {
    for (const [name, child] of Object.entries(inner)) {
      const counterpart = isObject(outer) ? own(outer, name) : undefined;
      const path = `${junctorPath}.properties[${name}]`;
      if (!isObject(counterpart)) check.errors.push(required(path, `because it is defined in ${path}`));
      else if (isObject(child)) checkJunctor(check, counterpart, { junctor: child, junctorPath: path });
    }
  }
  const [innerItems, outerItems] = [own(junctor, "items"), own(structure, "items")];
  if (isObject(innerItems) && isObject(outerItems)) {
    checkJunctor(check, outerItems, { junctor: innerItems, junctorPath: `${junctorPath}.items` });
  }
  for (const [nested, nestedPath] of junctorsOf(junctor, junctorPath)) {
    checkJunctor(check, structure, { junctor: nested, junctorPath: nestedPath });
  }
}

function checkPattern(check: Check, schema: JsonObject, path: string): void {
  const pattern = own(schema, "pattern");
  if (pattern !== undefined) checkValueRules(check, { pattern }, path);
}
