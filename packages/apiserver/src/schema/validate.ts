import { canonicalJson } from "@causeway/foundation";
import { isList, isObject, type Json, jsonEqual, type JsonObject, own } from "../patch/json.ts";
import {
  duplicate,
  type FieldError,
  invalid,
  member,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-error.ts";
import { fitsNumberFormat, matchesFormat } from "./formats.ts";
import { oldItem, oldMember } from "./correlate.ts";
import type { SchemaNode } from "./node.ts";
import { compilePattern } from "./regexp.ts";

/** What is known around a value. */
interface Around {
  /** What stood there before: a value that did not change is not judged again. */
  readonly old?: Json | undefined;
}

/** Everything in `value` that the schema does not allow, but for the CEL rules; in kube-apiserver's words. */
export function validateValue(node: SchemaNode, value: Json, path: string, at: Around = {}): FieldError[] {
  if (at.old !== undefined && jsonEqual(value, at.old)) return [];
  if (value === null && node.nullable) return checkEnum(node, value, path);
  const mismatch = checkType(node, value, path);
  if (mismatch !== undefined) return [mismatch];
  const errors = [...checkEnum(node, value, path), ...checkJunctors(node, value, path)];
  if (typeof value === "string") errors.push(...checkString(node, value, path));
  else if (typeof value === "number") errors.push(...checkNumber(node, value, path));
  else if (isList(value)) errors.push(...checkList(node, value, { path, old: at.old }));
  else if (isObject(value)) errors.push(...checkObject(node, value, { path, old: at.old }));
  return errors;
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (isList(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkType(node: SchemaNode, value: Json, path: string): FieldError | undefined {
  const actual = typeOf(value);
  const expected = node.intOrString ? ["integer", "string"] : node.type === undefined ? [] : [node.type];
  if (expected.length === 0 || expected.includes(actual)) return undefined;
  if (actual === "integer" && expected.includes("number")) return undefined;
  return typeInvalid(path, actual, `${body(path)} must be of type ${expected.join(",")}: "${actual}"`);
}

function checkEnum(node: SchemaNode, value: Json, path: string): FieldError[] {
  if (node.enum === undefined || node.enum.some((allowed) => jsonEqual(allowed, value))) return [];
  return [notSupported(path, value, node.enum)];
}

function checkString(node: SchemaNode, value: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  // Lengths count code points, as Go's runes.
  const length = Array.from(value).length;
  if (node.maxLength !== undefined && length > node.maxLength) errors.push(tooLong(path, node.maxLength));
  if (node.minLength !== undefined && length < node.minLength) {
    errors.push(invalid(path, value, `${body(path)} should be at least ${node.minLength} chars long`));
  }
  if (node.pattern !== undefined && !compilePattern(node.pattern).test(value)) {
    errors.push(invalid(path, value, `${body(path)} should match '${node.pattern}'`));
  }
  if (node.format !== undefined && !matchesFormat(node.format, value)) {
    errors.push(typeInvalid(path, value, `${body(path)} must be of type ${node.format}: ${JSON.stringify(value)}`));
  }
  return errors;
}

function checkNumber(node: SchemaNode, value: number, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { multipleOf } = node;
  // Whole numbers are held to the whole part of a bound.
  const [minimum, maximum] = [node.minimum, node.maximum].map((bound) =>
    bound === undefined || !Number.isInteger(value) ? bound : Math.trunc(bound),
  );
  if (maximum !== undefined && (node.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const words = node.exclusiveMaximum ? "less than" : "less than or equal to";
    errors.push(invalid(path, value, `${body(path)} should be ${words} ${maximum}`));
  }
  if (minimum !== undefined && (node.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const words = node.exclusiveMinimum ? "greater than" : "greater than or equal to";
    errors.push(invalid(path, value, `${body(path)} should be ${words} ${minimum}`));
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    errors.push(invalid(path, value, `${body(path)} should be a multiple of ${multipleOf}`));
  }
  if (node.format !== undefined && !fitsNumberFormat(node.format, value)) {
    errors.push(invalid(path, value, `${body(path)} must be of type ${node.format}: "${value}"`));
  }
  return errors;
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

interface Place {
  readonly path: string;
  readonly old: Json | undefined;
}

function checkList(node: SchemaNode, value: readonly Json[], { path, old }: Place): FieldError[] {
  const errors: FieldError[] = [];
  if (node.maxItems !== undefined && value.length > node.maxItems) {
    errors.push(tooMany(path, value.length, node.maxItems));
  }
  if (node.minItems !== undefined && value.length < node.minItems) {
    errors.push(invalid(path, value.length, `${body(path)} should have at least ${node.minItems} items`));
  }
  const { items } = node;
  if (items !== undefined) {
    for (const [i, item] of value.entries()) {
      errors.push(...validateValue(items, item, `${path}[${i}]`, { old: oldItem(node, item, old) }));
    }
  }
  return [...errors, ...checkUnique(node, value, path)];
}

/** Lists of type set have no value twice, lists of type map no key twice. */
function checkUnique(node: SchemaNode, value: readonly Json[], path: string): FieldError[] {
  if (node.listType !== "set" && node.listType !== "map") return [];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, item] of value.entries()) {
    const identity = node.listType === "set" ? item : isObject(item) ? keyOf(node, item) : undefined;
    if (identity === undefined) continue;
    const text = canonicalJson(identity);
    if (seen.has(text)) errors.push(duplicate(`${path}[${i}]`, identity));
    seen.add(text);
  }
  return errors;
}

function keyOf(node: SchemaNode, item: JsonObject): JsonObject {
  const entries = node.listKeys.flatMap((key): [string, Json][] => {
    const value = own(item, key) ?? node.items?.properties.get(key)?.default;
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries);
}

function checkObject(node: SchemaNode, value: JsonObject, { path, old }: Place): FieldError[] {
  const errors: FieldError[] = [];
  const count = Object.keys(value).length;
  if (node.maxProperties !== undefined && count > node.maxProperties) {
    errors.push(tooMany(path, count, node.maxProperties));
  }
  if (node.minProperties !== undefined && count < node.minProperties) {
    errors.push(invalid(path, count, `${body(path)} should have at least ${node.minProperties} properties`));
  }
  const mandatory = node.embedded ? [...new Set([...node.required, "apiVersion", "kind"])] : node.required;
  for (const name of mandatory) {
    if (own(value, name) === undefined) errors.push(required(member(path, name)));
  }
  if (node.embedded) errors.push(...embeddedErrors(value, path));
  for (const [name, child] of Object.entries(value)) {
    const schema = node.properties.get(name) ?? node.additional;
    if (schema === undefined || schema === true) continue;
    errors.push(...validateValue(schema, child, member(path, name), { old: oldMember(node, name, old) }));
  }
  return errors;
}

/** What an object within an object says it is. */
function embeddedErrors(value: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["apiVersion", "kind"]) {
    if (own(value, name) === "") errors.push(invalid(member(path, name), "", "must not be empty"));
  }
  return errors;
}

function checkJunctors(node: SchemaNode, value: Json, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const holds = (schema: SchemaNode): boolean => validateValue(schema, value, path).length === 0;
  // What no schema of several allows is told of no field.
  const failed = (words: string): void => {
    errors.push(invalid("<nil>", "", `${JSON.stringify(path)} ${words}`));
  };
  for (const schema of node.allOf) errors.push(...validateValue(schema, value, path));
  if (node.anyOf.length > 0 && !node.anyOf.some(holds)) {
    errors.push(...nearest(node.anyOf.map((schema) => validateValue(schema, value, path))));
    failed("must validate at least one schema (anyOf)");
  }
  if (node.oneOf.length > 0) {
    const valid = node.oneOf.filter(holds).length;
    const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
    if (valid === 0) errors.push(...nearest(node.oneOf.map((schema) => validateValue(schema, value, path))));
    if (valid !== 1) failed(`must validate one and only one schema (oneOf). ${found}`);
  }
  if (node.not !== undefined && holds(node.not)) failed("must not validate the schema (not)");
  return errors;
}

/** What is missing to the first of the alternatives. */
function nearest(alternatives: readonly (readonly FieldError[])[]): readonly FieldError[] {
  return alternatives[0] ?? [];
}

/** How messages name the place: "spec.replicas in body". */
function body(path: string): string {
  return `${path} in body`;
}
