import type { Caller } from "../../kernel/interface.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import { parseCidr, parseIp } from "../rules/addresses.ts";
import { badRequest, forbidden, invalidInput, invalidValue } from "../errors.ts";

/** One attribute of a resource: how its value is read, and when it may be given. */
export interface Attribute<T> {
  /** Throws Neutron's 400 if the value is none. */
  readonly read: (value: unknown, field: string) => T;
  readonly post?: false;
  readonly put?: false;
  readonly required?: true;
  /** Only an administrator may give it. */
  readonly admin?: true;
  /**
   * How a filter's value is read; false: lists refuse to filter by it. Default: as the attribute's own value if that is
   * a boolean or a number, else as it is.
   */
  readonly filter?: false | ((value: unknown, field: string) => unknown);
}

/** How a filter by the attribute reads its value; undefined: as it is. Not of attributes that are no filters. */
export function filterReader({ read, filter }: Attribute<unknown>): Attribute<unknown>["read"] | undefined {
  if (filter !== undefined && filter !== false) return filter;
  return read === bool || read === integer ? read : undefined;
}

/** The attributes of a kind of resource, by their names on the wire. */
export type Attributes = Readonly<Record<string, Attribute<unknown>>>;
/** What reading a body of these attributes gives; undefined and absent both mean not given. */
export type InputOf<A extends Attributes> = {
  readonly [K in keyof A]?: A[K] extends Attribute<infer T> ? T | undefined : never;
};

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const macPattern = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i;

/** A value as Python prints it inside Neutron's messages. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(quoted).join(", ")}]`;
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([k, v]) => `'${k}': ${quoted(v)}`)
      .join(", ")}}`;
  }
  return String(value as string | number);
}

const quoted = (value: unknown): string => (typeof value === "string" ? `'${value}'` : shown(value));

/** A string of at most 255 characters. */
export function text(value: unknown, field: string): string {
  if (typeof value !== "string") throw invalidValue(field, `'${shown(value)}' is not a valid string.`);
  if (value.length > 255) throw invalidValue(field, `'${value}' exceeds maximum length of 255.`);
  return value;
}

/** A UUID, also without dashes. */
export function uuid(value: unknown, field: string): string {
  if (typeof value === "string" && uuidPattern.test(value)) return value;
  throw invalidValue(field, `'${shown(value)}' is not a valid UUID.`);
}

/** A boolean as Neutron's converter reads it: also 0, 1 and the words "true" and "false" in any case. */
export function bool(value: unknown): boolean {
  const word = typeof value === "string" ? value.toLowerCase() : value;
  if (word === true || word === "true" || word === 1 || word === "1") return true;
  if (word === false || word === "false" || word === 0 || word === "0") return false;
  throw invalidInput(`'${shown(value)}' cannot be converted to boolean.`);
}

/** A whole number, also as a string of digits. */
export function integer(value: unknown): number {
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number)) return number;
  throw invalidInput(`'${shown(value)}' is not an integer.`);
}

/** An IPv4 or IPv6 address, as it was written. */
export function address(value: unknown, field: string): string {
  if (typeof value === "string" && parseIp(value)) return value;
  throw invalidValue(field, `'${shown(value)}' is not a valid IP address.`);
}

/** A MAC address with colons, in lower case. */
export function mac(value: unknown, field: string): string {
  if (typeof value === "string" && macPattern.test(value)) return value.toLowerCase();
  throw invalidValue(field, `'${shown(value)}' is not a valid MAC address.`);
}

/** A JSON object, whatever is in it. */
export function object(value: unknown, field: string): JsonObject {
  if (isObject(value)) return value;
  throw invalidValue(field, `'${shown(value)}' is not a dictionary.`);
}

/** A JSON list, whatever is in it. */
export function list(value: unknown, field: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalidValue(field, `'${shown(value)}' is not a list.`);
}

/** A list whose every element `read` reads. */
export const listOf =
  <T>(read: (value: unknown, field: string) => T) =>
  (value: unknown, field: string): readonly T[] =>
    list(value, field).map((element) => read(element, field));

/** null, or what `read` reads. */
export const orNull =
  <T>(read: (value: unknown, field: string) => T) =>
  (value: unknown, field: string): T | null =>
    value === null ? null : read(value, field);

/** One of these words, in this case. */
export const oneOf =
  <const V extends readonly string[]>(...values: V) =>
  (value: unknown, field: string): V[number] => {
    const found = values.find((v) => v === value);
    if (found === undefined) throw invalidValue(field, `${shown(value)} is not in valid_values.`);
    return found;
  };

/** One of these numbers, also as a string of digits. */
export const oneOfNumbers =
  <const V extends readonly number[]>(...values: V) =>
  (value: unknown, field: string): V[number] => {
    const number = integer(value);
    const found = values.find((v) => v === number);
    if (found === undefined) throw invalidValue(field, `${shown(value)} is not in valid_values.`);
    return found;
  };

/** Routes of subnets and routers: [{destination, nexthop}], none twice. */
export function routes(value: unknown, field: string): readonly { destination: string; nexthop: string }[] {
  const seen = new Set<string>();
  return list(value ?? [], field).map((entry) => {
    const { destination, nexthop } = object(entry, field);
    if (typeof destination !== "string" || !destination.includes("/") || !parseCidr(destination)) {
      throw invalidValue(field, `'${shown(destination)}' is not a valid CIDR.`);
    }
    const key = `${destination} ${address(nexthop, field)}`;
    if (seen.has(key)) throw invalidValue(field, `Duplicate hostroute '${shown(entry)}'.`);
    seen.add(key);
    return { destination, nexthop: String(nexthop as string) };
  });
}

/** The attribute "name" of every resource. */
export const name: Attribute<string> = { read: text };
/** The attribute "description" of every resource. */
export const description: Attribute<string> = { read: text };
const owner: Attribute<string> = { read: text };

/** Attributes of every resource. */
export const common = { name, description, project_id: owner, tenant_id: owner } as const;

/** Reads one resource out of a POST body, in Neutron's order: known, allowed, required, well formed, permitted. */
export function readCreate<A extends Attributes>(kind: Kind<A>, body: unknown, caller: Caller): InputOf<A> {
  const given = object(body, kind.singular);
  const { attributes } = kind;
  for (const [field, attribute] of Object.entries(attributes)) {
    if (attribute.required && given[field] === undefined) {
      throw badRequest(`Failed to parse request. Required attribute '${field}' not specified`);
    }
  }
  const input = readGiven(kind, given, "POST");
  checkOwner(given, caller);
  permit(kind, { given, caller, verb: "create" });
  return input;
}

/** Reads the change of a PUT body; only what is given is there. */
export function readUpdate<A extends Attributes>(kind: Kind<A>, body: unknown, caller: Caller): InputOf<A> {
  const given = object(body, kind.singular);
  const input = readGiven(kind, given, "PUT");
  checkOwner(given, caller);
  return input;
}

/** After the resource was found: 403 for what only an administrator may change. */
export function permitUpdate(kind: Kind<Attributes>, input: object, caller: Caller): void {
  permit(kind, { given: input, caller, verb: "update" });
}

interface Permission {
  readonly given: object;
  readonly caller: Caller;
  readonly verb: "create" | "update";
}

/** 403 naming every rule that the given attributes require, nested as Neutron's policy engine joins them. */
function permit({ attributes, singular }: Kind<Attributes>, { given, caller, verb }: Permission): void {
  if (caller.isAdmin) return;
  const values: Readonly<Record<string, unknown>> = { ...given };
  // Only a value other than the default needs a right, and everything that only administrators may set is false by
  // default.
  const isPlain = (field: string) => verb === "create" && values[field] === false;
  const asked = Object.keys(attributes).filter(
    (field) => Object.hasOwn(given, field) && attributes[field]?.admin && !isPlain(field),
  );
  if (asked.length === 0) return;
  const rule = `rule:${verb}_${singular}`;
  throw forbidden(asked.reduce((left, field) => `(${left} and ${rule}:${field})`, rule));
}

/** What reading bodies needs to know of a kind; `singular` is the name around the resource in a body. */
export interface Kind<A extends Attributes> {
  readonly singular: string;
  readonly attributes: A;
}

const readOnly = new Set(["id", "status", "created_at", "updated_at", "revision_number", "tags"]);

function readGiven<A extends Attributes>(kind: Kind<A>, given: JsonObject, method: "POST" | "PUT"): InputOf<A> {
  const unknown = Object.keys(given).filter((field) => !Object.hasOwn(kind.attributes, field) && !readOnly.has(field));
  if (unknown.length > 0) throw badRequest(`Unrecognized attribute(s) '${unknown.join(", ")}'`);
  const input: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(given)) {
    const attribute = kind.attributes[field];
    const allowed = attribute && (method === "POST" ? attribute.post : attribute.put) !== false;
    if (!allowed && method === "PUT") throw badRequest(`Cannot update read-only attribute ${field}`);
    if (!allowed) throw badRequest(`Attribute '${field}' not allowed in POST`);
    input[field] = attribute.read(value, field);
  }
  // Each field was read by the attribute of its name.
  return input as InputOf<A>;
}

function checkOwner(given: JsonObject, caller: Caller): void {
  const owner = given["project_id"] ?? given["tenant_id"];
  if (owner === undefined || owner === caller.projectId || caller.isAdmin) return;
  throw badRequest(
    "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request requires admin or advsvc privileges",
  );
}
