import { formatCidr, parseCidr, parseIp } from "../../network/rules/addresses.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import { shown } from "../../network/kit/attributes.ts";
import { fault, invalidField } from "../errors.ts";

/** One field of a resource. */
export interface Field<T> {
  readonly read: (value: unknown, field: string) => T;
  readonly required?: true;
  readonly put?: false;
}
/** The fields of a kind of resource, by their names on the wire. */
export type Fields = Readonly<Record<string, Field<unknown>>>;
/** What reading a body of these fields gives; undefined and absent both mean not given. */
export type InputOf<F extends Fields> = {
  readonly [K in keyof F]?: F[K] extends Field<infer T> ? T | undefined : never;
};

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A string of at most 255 characters. */
export function text(value: unknown, field: string): string {
  if (typeof value === "string" && value.length <= 255) return value;
  const why =
    typeof value === "string" ? "Value should have a maximum character requirement of 255" : "Value should be string";
  throw invalidField(field, shown(value), why);
}

/** A description: null takes it away. */
export const words = (value: unknown, field: string): string => (value === null ? "" : text(value, field));

/** A UUID with dashes. */
export function uuid(value: unknown, field: string): string {
  if (typeof value === "string" && uuidPattern.test(value)) return value;
  throw invalidField(field, shown(value), "Value should be UUID format");
}

/** A boolean, or the words "true" and "false" in any case. */
export function bool(value: unknown, field: string): boolean {
  const word = typeof value === "string" ? value.toLowerCase() : value;
  if (word === true || word === "true") return true;
  if (word === false || word === "false") return false;
  throw invalidField(field, shown(value), "Value should be a boolean");
}

/** An IPv4 or IPv6 address, as it was written. */
export function ip(value: unknown, field: string): string {
  if (typeof value === "string" && parseIp(value)) return value;
  throw invalidField(field, shown(value), "Value should be IPv4 or IPv6 format");
}

/** A whole number in this range, also as a string of digits. */
export const integer =
  (least: number, most: number) =>
  (value: unknown, field: string): number => {
    const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isInteger(number)) {
      throw invalidField(field, shown(value), `invalid literal for int() with base 10: '${shown(value)}'`);
    }
    if (number < least) throw invalidField(field, String(number), `Value should be greater or equal to ${least}`);
    if (number > most) throw invalidField(field, String(number), `Value should be lower or equal to ${most}`);
    return number;
  };

/** One of these words, in this case. */
export const oneOf =
  (...words: readonly string[]) =>
  (value: unknown, field: string): string => {
    if (typeof value === "string" && words.includes(value)) return value;
    throw invalidField(field, shown(value), `Value should be one of: ${words.join(", ")}`);
  };

/** null, or what `read` reads. */
export const orNull =
  <T>(read: (value: unknown, field: string) => T) =>
  (value: unknown, field: string): T | null =>
    value === null ? null : read(value, field);

/** A list whose every element `read` reads. */
export const listOf =
  <T>(read: (value: unknown, field: string) => T) =>
  (value: unknown, field: string): readonly T[] => {
    if (Array.isArray(value)) return value.map((element) => read(element, field));
    throw invalidField(field, shown(value), `Value not a valid list: ${shown(value)}`);
  };

/** Octavia keeps the network, whatever address of it was given; an address alone is a network of one. */
export function cidrs(value: unknown, field: string): readonly string[] | null {
  if (value === null) return null;
  const all = listOf(text)(value, field).map(parseCidr);
  const known = all.flatMap((cidr) => (cidr ? [formatCidr(cidr)] : []));
  if (known.length === all.length) return known;
  throw invalidField(field, shown(value), "Value should be IPv4 or IPv6 CIDR format");
}

/** A JSON object, whatever is in it. */
export function object(value: unknown, field: string): JsonObject {
  if (isObject(value)) return value;
  throw invalidField(field, shown(value), "Value should be a dictionary");
}

/** Fields of every resource. */
export const common = {
  name: { read: text },
  admin_state_up: { read: bool },
  tags: { read: listOf(text) },
} as const;
/** Given with a creation only. */
export const owner = { project_id: { read: text, put: false }, tenant_id: { read: text, put: false } } as const;

/** Reads a POST body's resource. `argument` is what Octavia calls it in errors ("listener_.listener"). */
export function readCreate<F extends Fields>(fields: F, given: unknown, argument: string): InputOf<F> {
  const input = readGiven(fields, { given, argument, method: "POST" });
  for (const [name, field] of Object.entries(fields)) {
    if (field.required && input[name] === undefined) throw invalidField(name, "None", "Mandatory field missing.");
  }
  return input;
}

/** Reads a PUT body's resource: fields that only a creation may give are refused with 400. */
export function readUpdate<F extends Fields>(fields: F, given: unknown, argument: string): InputOf<F> {
  return readGiven(fields, { given, argument, method: "PUT" });
}

/** The resource inside {"listener": {…}}; `argument` is the outer name in errors ("listener_"). */
export function unwrap(body: JsonObject, singular: string, argument: string): unknown {
  const unknown = Object.keys(body).find((key) => key !== singular);
  if (unknown !== undefined) throw fault(400, `Unknown attribute for argument ${argument}: ${unknown}`);
  if (!Object.hasOwn(body, singular)) throw invalidField(singular, "None", "Mandatory field missing.");
  return body[singular];
}

/** A row's change of exactly what was given. */
export function given<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(input).filter(([key, value]) => value !== undefined && key !== "tenant_id");
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

interface GivenBody {
  readonly given: unknown;
  readonly argument: string;
  readonly method: "POST" | "PUT";
}

function readGiven<F extends Fields>(fields: F, { given: value, argument, method }: GivenBody): InputOf<F> {
  if (!isObject(value)) throw invalidField(argument, shown(value), "Value should be a dictionary");
  const input: Record<string, unknown> = {};
  for (const [name, raw] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field || (method === "PUT" && field.put === false)) {
      throw fault(400, `Unknown attribute for argument ${argument}: ${name}`);
    }
    if (raw === null && field.required) throw invalidField(name, "None", "Mandatory field missing.");
    input[name] = field.read(raw, name);
  }
  // Each field was read by the field of its name.
  return input as InputOf<F>;
}
