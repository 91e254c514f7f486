import { isList, isObject, type Json, type JsonObject, own } from "../../json/values.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import type { RuleScope } from "./rules.ts";
import { listProblems } from "./lists.ts";
import { ruleProblems, scopeOf, scopeOfItems, scopeOfProperty, scopeOfValues } from "./rules.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
const OBJECT_FIELDS = new Set(["metadata", "kind", "apiVersion"]);
const JUNCTORS = ["allOf", "oneOf", "anyOf"] as const;

/** What is wrong with a schema, and with its CEL rules, which are reported after it. */
export interface WalkProblems {
  readonly schema: FieldError[];
  readonly rules: FieldError[];
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Within the type or the metadata of an object. */
  readonly inMetadata: boolean;
  /** Why there may be no default; undefined where there may be one. */
  readonly noDefault: string | undefined;
  /** The first place above in which the old value cannot be correlated. */
  readonly uncorrelated: string | undefined;
  /** What rules know of their place; absent in junctors, and where the structure is broken. */
  readonly scope: RuleScope | undefined;
}

/** What a version's schema says that no schema of a CRD may say, and what is wrong with its CEL rules. */
export function openApiProblems(schema: JsonObject, path: string, sound: boolean): WalkProblems {
  const scope = sound ? scopeOf(schema) : undefined;
  return problemsFrom(schema, { path, isRoot: true, scope });
}

/** The same of a schema whose values are no objects of an API. */
export function valueSchemaProblems(schema: JsonObject, path: string): WalkProblems {
  return problemsFrom(schema, { path, isRoot: false, scope: scopeOf(schema, false) });
}

function problemsFrom(
  schema: JsonObject,
  { path, isRoot, scope }: Pick<Place, "path" | "isRoot" | "scope">,
): WalkProblems {
  const place = { path, isRoot, inMetadata: false, noDefault: undefined, uncorrelated: undefined, scope };
  const found = walk(schema, place);
  return scope ? { ...found, rules: [...found.rules, ...scope.total.problems(path)] } : found;
}

function walk(schema: JsonObject, place: Place): WalkProblems {
  const found: { schema: FieldError[]; rules: FieldError[] } = { schema: [], rules: [] };
  found.schema.push(...wordProblems(schema, place));
  for (const [child, below] of children(schema, place)) {
    const inner = walk(child, below);
    found.schema.push(...inner.schema);
    found.rules.push(...inner.rules);
  }
  found.schema.push(...extensionProblems(schema, place.path), ...listProblems(schema, place.path));
  const rules = own(schema, "x-kubernetes-validations");
  if (!isList(rules) || rules.length === 0) return found;
  const { path, uncorrelated } = place;
  const problems = ruleProblems(schema, {
    path,
    uncorrelated,
    scope: found.schema.length === 0 ? place.scope : undefined,
  });
  found.schema.push(...problems.schema);
  found.rules.push(...problems.rules);
  return found;
}

function wordProblems(schema: JsonObject, { path, noDefault, inMetadata }: Place): FieldError[] {
  const errors: FieldError[] = [];
  const type = own(schema, "type") ?? "";
  if (type !== "" && !TYPES.includes(type as string)) errors.push(notSupported(`${path}.type`, type, TYPES));
  if (noDefault !== undefined && (own(schema, "default") ?? null) !== null) {
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefault}`));
  }
  for (const name of UNSUPPORTED) {
    const value = own(schema, name) ?? null;
    if (value === null || (isObject(value) && Object.keys(value).length === 0)) continue;
    errors.push(forbidden(`${path}.${name}`, `${name} is not supported`));
  }
  if (type === "null") {
    errors.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  }
  if (isList(own(schema, "items"))) {
    errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  }
  if (inMetadata && own(schema, "x-kubernetes-embedded-resource") === true) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  }
  if (own(schema, "uniqueItems") === true) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, why));
  }
  if (excludes(schema)) {
    errors.push(forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"));
  }
  return errors;
}

function excludes(schema: JsonObject): boolean {
  const named = own(schema, "properties");
  const others = own(schema, "additionalProperties");
  return isObject(named) && Object.keys(named).length > 0 && (others === false || isObject(others));
}

function* children(schema: JsonObject, place: Place): Generator<[JsonObject, Place]> {
  const { path, scope } = place;
  const below = { ...place, isRoot: false };
  const additional = own(schema, "additionalProperties");
  if (isObject(additional)) {
    const noDefault = place.inMetadata ? "inside additionalProperties applying to object metadata" : place.noDefault;
    const at = `${path}.additionalProperties`;
    yield [additional, { ...below, path: at, noDefault, scope: scope && scopeOfValues(scope, additional) }];
  }
  yield* propertiesOf(schema, place);
  const judged = { ...below, scope: undefined };
  const not = own(schema, "not");
  if (isObject(not)) yield [not, { ...judged, path: `${path}.not` }];
  for (const name of JUNCTORS) {
    for (const [i, child] of listOf(own(schema, name)).entries()) {
      if (isObject(child)) yield [child, { ...judged, path: `${path}.${name}[${i}]` }];
    }
  }
  const items = own(schema, "items");
  if (!isObject(items)) return;
  const uncorrelated =
    own(schema, "x-kubernetes-list-type") === "map" ? place.uncorrelated : (place.uncorrelated ?? path);
  yield [items, { ...below, path: `${path}.items`, uncorrelated, scope: scope && scopeOfItems(scope, items) }];
}

function* propertiesOf(schema: JsonObject, place: Place): Generator<[JsonObject, Place]> {
  const { path, scope, isRoot } = place;
  const mapType = own(schema, "x-kubernetes-map-type") ?? "granular";
  const isCorrelated = mapType === "granular" || mapType === "atomic";
  const uncorrelated = isCorrelated ? place.uncorrelated : (place.uncorrelated ?? path);
  const named = own(schema, "properties");
  if (!isObject(named)) return;
  const holdsObject = isRoot || own(schema, "x-kubernetes-embedded-resource") === true;
  for (const [name, child] of Object.entries(named)) {
    if (!isObject(child)) continue;
    const inMetadata = place.inMetadata || (holdsObject && OBJECT_FIELDS.has(name));
    const noDefault = isRoot && OBJECT_FIELDS.has(name) ? `in top-level ${name}` : place.noDefault;
    const at = `${path}.properties[${name}]`;
    const inner = scope && scopeOfProperty(scope, name, child);
    yield [child, { path: at, isRoot: false, inMetadata, noDefault, uncorrelated, scope: inner }];
  }
}

function extensionProblems(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (own(schema, "x-kubernetes-preserve-unknown-fields") === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  const mapType = own(schema, "x-kubernetes-map-type");
  if (mapType === undefined || mapType === null) return errors;
  const type = own(schema, "type") ?? "";
  const why = "must be object if x-kubernetes-map-type is specified";
  if (type === "") errors.push(required(`${path}.type`, why));
  else if (type !== "object") errors.push(invalid(`${path}.type`, type, why));
  if (mapType !== "atomic" && mapType !== "granular") {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  return errors;
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}
