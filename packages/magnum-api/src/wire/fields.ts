import { shortList } from "@causeway/foundation";
import { invalid, type MagnumError } from "./error.ts";
import { LiteralError, pythonRepr, readLiteral } from "./python.ts";
import { readTaints, type NodeTaint } from "./taints.ts";

/** How an attribute of a body is read. */
export interface Field {
  readonly type: "text" | "int" | "bool" | "labels" | "texts" | "dns" | "taints";
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly oneOf?: readonly string[];
  readonly mandatory?: boolean;
  /** Accepted, and not read: an attribute that only responses have. */
  readonly readonly?: boolean;
}

/** The attributes that a body may have, by name; a name that is not there is refused. */
export type Fields = Readonly<Record<string, Field>>;
/** What `readFields` returns: values in the type that the field gives, and only those that were sent. */
export type Values = Readonly<Record<string, unknown>>;

/** An id as Python's uuid module accepts it. */
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
/** Whether a text is a UUID. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** The id as it is kept: in lower case, with dashes. Undefined: the text is no id. */
export function readUuid(text: string): string | undefined {
  if (!isUuid(text)) return undefined;
  return text
    .toLowerCase()
    .replaceAll("-", "")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const MOST_LABELS = 200;

function wrong(name: string, value: unknown, why: string): MagnumError {
  const shown = typeof value === "string" ? value.slice(0, 500) : pythonRepr(value);
  return invalid(`Invalid input for field/attribute ${name}. Value: '${shown}'. ${why}`);
}

/**
 * The attributes of a body, checked: unknown and mandatory ones, types and bounds. Horizon sends each value as text,
 * and an empty text for none.
 * @throws MagnumError 400
 */
export function readFields(body: unknown, fields: Fields, argument: string): Values {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw wrong(argument, body, `Value not a valid object: ${pythonRepr(body)}`);
  }
  const given = body as Record<string, unknown>;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(fields, name));
  if (unknown.length > 0) throw invalid(`Unknown attribute for argument ${argument}: ${shortList(unknown, 20)}`);
  const read: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) {
      if (field.mandatory === true) throw wrong(name, value, "Mandatory field missing.");
      continue;
    }
    if (field.readonly === true) continue;
    read[name] = readValue(name, value, { field, argument, body });
  }
  return read;
}

interface Around {
  readonly field: Field;
  readonly argument: string;
  readonly body: unknown;
}

/** One value. @throws MagnumError 400 */
export function readValue(name: string, value: unknown, around: Around): unknown {
  const { field } = around;
  switch (field.type) {
    case "text":
    case "dns":
      return readText(name, value, field);
    case "int":
      return readInteger(name, value, around);
    case "bool":
      return readBoolean(name, value);
    case "labels":
      return readLabels(name, value);
    case "texts":
      if (!Array.isArray(value)) throw wrong(name, value, `Value not a valid list: ${pythonRepr(value)}`);
      return value.map((each) => readText(name, each, { type: "text", max: 255 }));
    case "taints":
      return readTaintList(name, value);
  }
}

function readText(name: string, value: unknown, { min = 0, max = 65_536, pattern, oneOf, type }: Field): string {
  if (typeof value !== "string") throw wrong(name, value, "Value should be string");
  if (oneOf && !oneOf.includes(value)) throw wrong(name, value, `Value should be one of: ${oneOf.join(", ")}`);
  if (value.length < min) throw wrong(name, value, `Value should have a minimum character requirement of ${min}`);
  if (value.length > max) throw wrong(name, value, `Value should have a maximum character requirement of ${max}`);
  if (pattern !== undefined && !new RegExp(pattern).test(value))
    throw wrong(name, value, `Value should match the pattern ${pattern}`);
  if (type === "dns" && !value.split(",").every((one) => /^[0-9a-f.:]+$/i.test(one.trim()))) {
    throw invalid(`Expected a single dns address or comma separated dns list, but received ${value}.`);
  }
  return value;
}

function readInteger(name: string, value: unknown, { field, argument, body }: Around): number {
  const number = typeof value === "number" ? value : /^\s*[+-]?\d{1,15}\s*$/.test(String(value)) ? Number(value) : NaN;
  if (typeof value !== "number" && typeof value !== "string") throw wrong(name, value, "Value should be an integer");
  if (Number.isNaN(number)) {
    throw wrong(argument, pythonRepr(body), `invalid literal for int() with base 10: ${pythonRepr(value)}`);
  }
  const whole = Math.trunc(number);
  if (field.min !== undefined && whole < field.min)
    throw wrong(name, value, `Value should be greater or equal to ${field.min}`);
  const most = field.max ?? 2_147_483_647;
  if (whole > most) throw wrong(name, value, `Value should be lower or equal to ${most}`);
  return whole;
}

/** As oslo's strict reading of booleans. @throws MagnumError 400 */
export function readBoolean(name: string, value: unknown): boolean {
  const text = String(value).trim().toLowerCase();
  if (["t", "true", "on", "y", "yes", "1"].includes(text)) return true;
  if (["f", "false", "off", "n", "no", "0"].includes(text)) return false;
  const shown = pythonRepr(String(value));
  throw invalid(
    `Invalid input for field/attribute ${name}. Value: '${String(value).slice(0, 200)}'. unable to convert to boolean. Error: Unrecognized value ${shown}, acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'`,
  );
}

function readLabels(name: string, value: unknown): Record<string, string> {
  const object = typeof value === "string" ? literal(name, value) : value;
  if (object === null || typeof object !== "object" || Array.isArray(object)) {
    throw wrong(name, value, `Value not a valid dict: ${pythonRepr(value)}`);
  }
  const entries = Object.entries(object);
  if (entries.length > MOST_LABELS)
    throw wrong(name, `${entries.length} entries`, `At most ${MOST_LABELS} are accepted`);
  return Object.fromEntries(
    entries.map(([key, each]) => [readText(name, key, { type: "text", min: 1, max: 255 }), labelText(name, each)]),
  );
}

function labelText(name: string, value: unknown): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  return readText(name, value, { type: "text", max: 16_384 });
}

function literal(name: string, text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return readLiteral(text);
  } catch (error) {
    if (error instanceof LiteralError) throw wrong(name, text, error.message);
    throw error;
  }
}

const MOST_TAINTS = 64;

function readTaintList(name: string, value: unknown): NodeTaint[] {
  const given = typeof value === "string" ? literal(name, value) : value;
  if (!Array.isArray(given)) throw wrong(name, value, `Value not a valid list: ${pythonRepr(value)}`);
  if (given.length > MOST_TAINTS) throw wrong(name, `${given.length} taints`, `At most ${MOST_TAINTS} are accepted`);
  return readTaints(name, given);
}
