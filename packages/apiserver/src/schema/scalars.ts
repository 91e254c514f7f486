import { cutText } from "../bounds.ts";
import { isList, type Json } from "../json/values.ts";
import { type FieldError, fieldAt, invalid, tooLong, typeInvalid } from "./field-error.ts";
import { knownFormat, matchesFormat } from "./formats.ts";
import type { SchemaNode } from "./node.ts";
import { compilePattern } from "./regexp.ts";

/** What JSON schema calls it, and what go-openapi calls the form of a number. */
function formOf(value: Json): { readonly type: string; readonly format: string } {
  if (value === null) return { type: "null", format: "" };
  if (isList(value)) return { type: "array", format: "" };
  if (typeof value !== "number") return { type: typeof value, format: "" };
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63
    ? { type: "integer", format: "int64" }
    : { type: "number", format: "float64" };
}

/** The schema says what type of value it wants. */
export function hasType({ type, intOrString, format }: SchemaNode): boolean {
  return type !== undefined || intOrString || knownFormat(format);
}

/** A value of another type. For strings with a format, lists are reported alike. */
export function typeFault(node: SchemaNode, value: Json, path: string): FieldError | undefined {
  const types = node.intOrString ? ["integer", "string"] : node.type === undefined ? [] : [node.type];
  const wrong = (expected: string, actual: string): FieldError =>
    typeInvalid(fieldAt(path), actual, `${path} in body must be of type ${expected}: ${JSON.stringify(actual)}`);
  const { type, format } = formOf(value);
  if (value === null) return types.length > 0 && !node.nullable ? wrong(types.join(","), type) : undefined;
  const named = knownFormat(node.format) ? node.format : undefined;
  if (types.length === 0 && named === undefined) return undefined;
  const fits =
    types.includes(type) ||
    (type === "integer" && types.includes("number")) ||
    (type === "number" && types.includes("integer") && isWhole(value as number));
  if (fits) return undefined;
  if (named === undefined) return wrong(types.join(","), type);
  const isText = type === "string" || type === "array";
  if (!isText) return wrong(named, format);
  return types.includes("number") || types.includes("integer") ? wrong(types.join(","), type) : undefined;
}

/** The first thing that is wrong with a string. */
export function stringFault(node: SchemaNode, value: string, path: string): FieldError | undefined {
  // Lengths count code points, as Go's runes.
  const length = node.maxLength === undefined && node.minLength === undefined ? 0 : Array.from(value).length;
  if (node.maxLength !== undefined && length > node.maxLength) return tooLong(fieldAt(path), node.maxLength);
  if (node.minLength !== undefined && length < node.minLength)
    return invalid(fieldAt(path), value, `${path} in body should be at least ${node.minLength} chars long`);
  if (node.pattern === undefined || matches(node.pattern, value)) return undefined;
  return invalid(fieldAt(path), value, `${path} in body should match '${cutText(node.pattern, 1000)}'`);
}

/** A text that is too long for its pattern does not match it. */
function matches(pattern: string, text: string): boolean {
  try {
    return compilePattern(pattern).test(text);
  } catch {
    return false;
  }
}

/** What is wrong with a string by its schema's `format`; undefined where it matches, or there is no format. */
export function formatFault({ format }: SchemaNode, value: string, path: string): FieldError | undefined {
  if (format === undefined || matchesFormat(format, value)) return undefined;
  return typeInvalid(fieldAt(path), value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`);
}

/** All that is wrong with a number. Whole numbers are held to the whole part of a bound. */
export function numberFaults(node: SchemaNode, value: number, path: string): FieldError[] {
  const bound = (limit: number | undefined): number | undefined =>
    limit === undefined || !Number.isInteger(value) ? limit : Math.trunc(limit);
  const [minimum, maximum, factor] = [bound(node.minimum), bound(node.maximum), bound(node.multipleOf)];
  const errors: FieldError[] = [];
  const wrong = (words: string): void => void errors.push(invalid(fieldAt(path), value, `${path} in body ${words}`));
  if (factor !== undefined && factor <= 0) {
    const why = `factor MultipleOf declared for ${path} must be positive: ${factor}`;
    errors.push(invalid(fieldAt(path), factor, why));
  } else if (factor !== undefined && !isMultiple(value, factor)) {
    wrong(`should be a multiple of ${factor}`);
  }
  if (minimum !== undefined && (node.exclusiveMinimum ? value <= minimum : value < minimum))
    wrong(`should be greater than ${node.exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  if (maximum !== undefined && (node.exclusiveMaximum ? value >= maximum : value > maximum))
    wrong(`should be less than ${node.exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  return errors;
}

function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value)) return value % factor === 0;
  return isWhole(factor < 1 ? (1 / factor) * value : value / factor);
}

/** Whole, or so little above that it counts as such (go-openapi's bound). */
function isWhole(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  return value === whole || (whole !== 0 && Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9);
}
