import { isList, isObject, jsonEqual, type Json, type JsonObject, own } from "../../json/values.ts";
import { type FieldError, forbidden, invalid, required } from "../field-error.ts";
import { patternProblem } from "../regexp.ts";

type Level = "root" | "item" | "field";

const INT_OR_STRING: Json = [{ type: "integer" }, { type: "string" }];
const JUNCTORS = ["allOf", "anyOf", "oneOf"] as const;
const UNTYPED: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** What keeps a schema from being a structural one (KEP-1693), sorted as kube-apiserver sorts it. */
export function structureProblems(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  invariants(errors, schema, { level: "root", path });
  completeness(errors, { nested: schema, at: path }, { structure: schema, at: path });
  const text = (e: FieldError): string => `${e.field}: ${e.message}`;
  return errors.toSorted((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}

interface Place {
  readonly level: Level;
  readonly path: string;
}

function invariants(errors: FieldError[], schema: JsonObject, place: Place): void {
  const { path } = place;
  const items = object(schema, "items");
  if (own(schema, "type") === "array" && !items) errors.push(required(`${path}.items`, "must be specified"));
  if (items) invariants(errors, items, { level: "item", path: `${path}.items` });
  for (const [name, child] of properties(schema)) {
    invariants(errors, child, { level: "field", path: `${path}.properties[${name}]` });
  }
  const additional = object(schema, "additionalProperties");
  if (additional) invariants(errors, additional, { level: "field", path: `${path}.additionalProperties` });
  if (own(schema, "additionalProperties") !== undefined && place.level === "root") {
    errors.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
  }
  extensions(errors, schema, path);
  values(errors, schema, { path, skips: skipsOf(schema) });
  types(errors, schema, place);
  metadata(errors, schema, place);
}

function extensions(errors: FieldError[], schema: JsonObject, path: string): void {
  if (!flag(schema, "x-kubernetes-int-or-string")) return;
  for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"]) {
    if (!flag(schema, name)) continue;
    errors.push(invalid(`${path}.${name}`, true, "must be false if x-kubernetes-int-or-string is true"));
  }
}

function types(errors: FieldError[], schema: JsonObject, { level, path }: Place): void {
  const type = text(schema, "type");
  const embedded = flag(schema, "x-kubernetes-embedded-resource");
  const keeps = flag(schema, "x-kubernetes-preserve-unknown-fields");
  if (embedded && type !== "object") {
    const why = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(`${path}.type`, why) : invalid(`${path}.type`, type, why));
  } else if (type === "" && !flag(schema, "x-kubernetes-int-or-string") && !keeps) {
    errors.push(required(`${path}.type`, UNTYPED[level]));
  }
  if (embedded && own(schema, "additionalProperties") !== undefined) {
    errors.push(forbidden(`${path}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set"));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalid(`${path}.type`, type, "must be object at the root"));
  }
  if (embedded && !keeps && properties(schema).length === 0) {
    const why =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, why));
  }
}

/** Of an object's own metadata, a schema may restrict the name alone. */
function metadata(errors: FieldError[], schema: JsonObject, { level, path }: Place): void {
  const isObjectRoot = level === "root" || flag(schema, "x-kubernetes-embedded-resource");
  for (const [name, child] of properties(schema)) {
    const at = `${path}.properties[${name}]`;
    const type = text(child, "type");
    if (isObjectRoot && (name === "kind" || name === "apiVersion") && type !== "string") {
      errors.push(invalid(`${at}.type`, type, "must be string"));
    }
    if (name !== "metadata") continue;
    if (isObjectRoot && type !== "object") errors.push(invalid(`${at}.type`, type, "must be object"));
    if (level === "root" && saysMoreThanNames(child)) {
      const why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
      errors.push(forbidden(at, why));
    }
  }
}

function saysMoreThanNames(schema: JsonObject): boolean {
  const { type: _type, default: _default, properties: _properties, ...rest } = schema;
  const names = properties(schema).map(([name]) => name);
  return Object.keys(rest).length > 0 || names.some((name) => name !== "name" && name !== "generateName");
}

/** Which junctors are the two ways of writing int-or-string, where types may be. */
function skipsOf(schema: JsonObject): { anyOf: boolean; first: boolean } {
  const [first] = list(schema, "allOf");
  return {
    anyOf: jsonEqual(own(schema, "anyOf") ?? null, INT_OR_STRING),
    first: isObject(first) && jsonEqual(own(first, "anyOf") ?? null, INT_OR_STRING),
  };
}

interface Values {
  readonly path: string;
  readonly skips: { readonly anyOf: boolean; readonly first: boolean };
}

const NO_SKIPS = { anyOf: false, first: false };

function values(errors: FieldError[], schema: JsonObject, { path, skips }: Values): void {
  for (const name of JUNCTORS) {
    if (name === "anyOf" && skips.anyOf) continue;
    for (const [i, child] of list(schema, name).entries()) {
      if (!isObject(child)) continue;
      const skipped = { anyOf: name === "allOf" && i === 0 && skips.first, first: false };
      nested(errors, child, { path: `${path}.${name}[${i}]`, skips: skipped });
    }
  }
  const not = object(schema, "not");
  if (not) nested(errors, not, { path: `${path}.not`, skips: NO_SKIPS });
  const pattern = text(schema, "pattern");
  const problem = pattern === "" ? undefined : patternProblem(pattern);
  if (problem !== undefined) {
    errors.push(invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${problem}`));
  }
}

/** [name, how it has to be] of what a schema inside a junctor may not say. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ["type", "empty"],
  ["additionalProperties", "undefined"],
  ["default", "undefined"],
  ["title", "empty"],
  ["description", "empty"],
  ["nullable", "false"],
  ["x-kubernetes-preserve-unknown-fields", "false"],
  ["x-kubernetes-embedded-resource", "false"],
  ["x-kubernetes-int-or-string", "false"],
  ["x-kubernetes-list-map-keys", "empty"],
  ["x-kubernetes-list-type", "undefined"],
  ["x-kubernetes-map-type", "undefined"],
  ["x-kubernetes-validations", "empty"],
];

/** Inside a junctor only values are judged: the structure is outside. */
function nested(errors: FieldError[], schema: JsonObject, { path, skips }: Values): void {
  values(errors, schema, { path, skips });
  const items = object(schema, "items");
  if (items) nested(errors, items, { path: `${path}.items`, skips: NO_SKIPS });
  for (const [name, child] of properties(schema)) {
    const at = `${path}.properties[${name}]`;
    if (name === "metadata") errors.push(forbidden(at, "must not be specified in a nested context"));
    nested(errors, child, { path: at, skips: NO_SKIPS });
  }
  for (const [name, how] of FORBIDDEN) {
    if (isSaid(own(schema, name))) errors.push(forbidden(`${path}.${name}`, `must be ${how} to be structural`));
  }
}

function isSaid(value: Json | undefined): boolean {
  return (
    value !== undefined && value !== null && value !== "" && value !== false && !(isList(value) && value.length === 0)
  );
}

interface Nested {
  readonly nested: JsonObject;
  readonly at: string;
}

interface Structure {
  readonly structure: JsonObject | undefined;
  readonly at: string;
}

/** Every field that a junctor judges has to be in the structure outside. */
function completeness(errors: FieldError[], from: Nested, to: Structure): void {
  const each = (child: JsonObject, at: string): void => complete(errors, { nested: child, at }, to);
  const not = object(from.nested, "not");
  if (not) each(not, `${from.at}.not`);
  for (const name of JUNCTORS) {
    for (const [i, child] of list(from.nested, name).entries()) {
      if (isObject(child)) each(child, `${from.at}.${name}[${i}]`);
    }
  }
}

function complete(errors: FieldError[], from: Nested, to: Structure): void {
  if (!to.structure) {
    errors.push(required(to.at, `because it is defined in ${from.at}`));
    return;
  }
  completeness(errors, from, to);
  const items = object(from.nested, "items");
  if (items) {
    const outside = { structure: object(to.structure, "items"), at: `${to.at}.items` };
    complete(errors, { nested: items, at: `${from.at}.items` }, outside);
  }
  const known = new Map(properties(to.structure));
  for (const [name, child] of properties(from.nested)) {
    const outside = { structure: known.get(name), at: `${to.at}.properties[${name}]` };
    complete(errors, { nested: child, at: `${from.at}.properties[${name}]` }, outside);
  }
}

function object(schema: JsonObject, name: string): JsonObject | undefined {
  const value = own(schema, name);
  return isObject(value) ? value : undefined;
}

function list(schema: JsonObject, name: string): readonly Json[] {
  const value = own(schema, name);
  return isList(value) ? value : [];
}

function text(schema: JsonObject, name: string): string {
  const value = own(schema, name);
  return typeof value === "string" ? value : "";
}

function flag(schema: JsonObject, name: string): boolean {
  return own(schema, name) === true;
}

function properties(schema: JsonObject): readonly (readonly [string, JsonObject])[] {
  return Object.entries(object(schema, "properties") ?? {}).flatMap(([name, child]) =>
    isObject(child) ? [[name, child] as const] : [],
  );
}
