import { isIP } from "node:net";
import { canonicalJson, isRecord, messageOf } from "@causeway/foundation";
import { matchesPattern } from "./pattern.ts";
import type { VariableSchema } from "./schema.ts";

/** At most as many problems are reported of one value. */
const mostProblems = 10;

/** Why a value is not what its schema says: one line for each problem. */
export function valueProblems(value: unknown, schema: VariableSchema, path: string): string[] {
  const problems: string[] = [];
  check({ value, schema, path }, (at, problem) => {
    if (problems.length < mostProblems) problems.push(`${at}: Invalid value: ${shown(value, path, at)}${problem}`);
  });
  return problems;
}

type Report = (path: string, problem: string) => void;
interface Judged {
  readonly value: unknown;
  readonly schema: VariableSchema;
  readonly path: string;
}

function shown(value: unknown, path: string, at: string): string {
  const text = at === path && !isRecord(value) && !Array.isArray(value) ? `${JSON.stringify(value)}: ` : "";
  return text.length > 100 ? "" : text;
}

function check(judged: Judged, report: Report): void {
  const { value, schema, path } = judged;
  const problem = typeProblem(value, schema);
  if (problem) return report(path, problem);
  if (schema.enum && !schema.enum.some((one) => canonicalJson(one) === canonicalJson(value))) {
    report(path, `supported values: ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`);
  }
  if (typeof value === "string") textChecks(value, judged, report);
  if (typeof value === "number") numberChecks(value, judged, report);
  if (Array.isArray(value)) listChecks(value, judged, report);
  else if (isRecord(value)) fieldChecks(value, judged, report);
  combinations(judged, report);
}

function typeProblem(value: unknown, schema: VariableSchema): string | undefined {
  if (schema["x-kubernetes-int-or-string"]) {
    return Number.isInteger(value) || typeof value === "string"
      ? undefined
      : `must be an integer or a string, is ${typeOf(value)}`;
  }
  if (schema.type === undefined) return undefined;
  const is = typeOf(value);
  const fits = is === schema.type || (schema.type === "number" && is === "integer");
  return fits ? undefined : `must be of type ${schema.type}: "${is}"`;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

function textChecks(value: string, { schema, path }: Judged, report: Report): void {
  const { length } = Array.from(value);
  if (schema.minLength !== undefined && length < schema.minLength)
    report(path, `should be at least ${schema.minLength} chars long`);
  if (schema.maxLength !== undefined && length > schema.maxLength)
    report(path, `should be at most ${schema.maxLength} chars long`);
  if (schema.pattern !== undefined && !fitsPattern(value, schema)) report(path, `should match '${schema.pattern}'`);
  if (schema.format !== undefined && !fitsFormat(value, schema.format))
    report(path, `must be of format ${schema.format}`);
}

function fitsPattern(value: string, schema: VariableSchema): boolean {
  try {
    return matchesPattern(schema, schema.pattern ?? "", value);
  } catch (error) {
    throw new Error(`pattern '${schema.pattern}' cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

/** The formats of Kubernetes that are checked here; others are not checked, as unknown ones are not by Kubernetes. */
function fitsFormat(value: string, format: string): boolean {
  switch (format) {
    case "ipv4":
      return isIP(value) === 4;
    case "ipv6":
      return isIP(value) === 6;
    case "cidr": {
      const [address = "", length = "", ...rest] = value.split("/");
      const most = isIP(address) === 6 ? 128 : 32;
      return rest.length === 0 && isIP(address) !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= most;
    }
    case "uuid":
      return /^[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}$/i.test(value);
    case "byte":
      return value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
    case "date-time":
      return /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
    case "hostname":
      return value.length < 254 && /^[\da-zA-Z](?:[\da-zA-Z.-]*[\da-zA-Z])?$/.test(value);
    default:
      return true;
  }
}

function numberChecks(value: number, { schema, path }: Judged, report: Report): void {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    report(path, `should be greater than ${schema.exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    report(path, `should be less than ${schema.exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
}

function listChecks(value: readonly unknown[], { schema, path }: Judged, report: Report): void {
  const { items, minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) report(path, `should have at least ${minItems} items`);
  if (maxItems !== undefined && value.length > maxItems) return report(path, `must have at most ${maxItems} items`);
  if (schema.uniqueItems && new Set(value.map((item) => canonicalJson(item))).size < value.length)
    report(path, "shouldn't contain duplicates");
  if (items) value.forEach((item, at) => check({ value: item, schema: items, path: `${path}[${at}]` }, report));
}

function fieldChecks(value: Readonly<Record<string, unknown>>, { schema, path }: Judged, report: Report): void {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const names = Object.keys(value);
  if (schema.minProperties !== undefined && names.length < schema.minProperties)
    report(path, `should have at least ${schema.minProperties} properties`);
  if (schema.maxProperties !== undefined && names.length > schema.maxProperties)
    report(path, `must have at most ${schema.maxProperties} properties`);
  for (const name of required) if (!Object.hasOwn(value, name)) report(path, `${name} is required`);
  const open =
    additionalProperties === true ||
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    schema.type === undefined;
  for (const [name, inner] of Object.entries(value)) {
    const part = Object.hasOwn(properties, name)
      ? properties[name]
      : isRecord(additionalProperties)
        ? additionalProperties
        : undefined;
    if (part) check({ value: inner, schema: part as VariableSchema, path: `${path}.${name}` }, report);
    else if (!open) report(`${path}.${name}`, "field is not specified in the variable schema");
  }
}

function combinations({ value, schema, path }: Judged, report: Report): void {
  const fits = (part: VariableSchema) => valueProblems(value, part, path).length === 0;
  for (const part of schema.allOf ?? []) check({ value, schema: part, path }, report);
  if (schema.anyOf && !schema.anyOf.some(fits)) report(path, "must validate at least one schema (anyOf)");
  if (schema.oneOf && schema.oneOf.filter(fits).length !== 1)
    report(path, "must validate one and only one schema (oneOf)");
  if (schema.not && fits(schema.not)) report(path, "must not validate the schema (not)");
}
