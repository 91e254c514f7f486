import { extended } from "../bounds.ts";
import { isRecord } from "../json/json.ts";
import { structOf, type Field, type Tables } from "./tables.ts";

/** Where a value is: the struct that has the field, and the field's path from the root. */
interface Place {
  readonly struct: string;
  readonly path: string;
}

const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** A text with a type name of its own in Go, which its messages have. */
const UID = "types.UID";
const RANGES: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };
const GO_NAMES: Readonly<Record<string, string>> = {
  bytes: "[]uint8",
  double: "float64",
  Quantity: "resource.Quantity",
  IntOrString: "intstr.IntOrString",
  Time: "v1.Time",
  MicroTime: "v1.MicroTime",
  Duration: "v1.Duration",
  Raw: "runtime.RawExtension",
  Fields: "v1.FieldsV1",
};

/**
 * What a built-in object has in a form that its kind cannot hold, in the words of Go's decoder, which clients know from
 * kube-apiserver; undefined when it can be held, or when its kind has no table.
 */
export function decodingProblem(tables: Tables, object: { apiVersion?: unknown; kind?: unknown }): string | undefined {
  const struct = structOf(String(object.apiVersion as string), String(object.kind as string));
  if (struct === undefined || !tables.flat(struct)) return undefined;
  const { apiVersion: _version, kind: _kind, ...rest } = object as Record<string, unknown>;
  return structProblem(tables, struct, { value: rest, path: "" });
}

/**
 * Go's decoder continues after a value of another type; what a type's own decoder refuses ends it, and is reported
 * before all others.
 */
function worst(problems: Iterable<string | undefined>): string | undefined {
  let first: string | undefined;
  for (const problem of problems) {
    if (problem === undefined) continue;
    if (!problem.startsWith("json:") && !problem.startsWith("illegal base64")) return problem;
    first ??= problem;
  }
  return first;
}

/** The same of the metadata of any object. */
export function metadataProblem(tables: Tables, metadata: unknown): string | undefined {
  return isRecord(metadata) ? structProblem(tables, "meta.ObjectMeta", { value: metadata, path: "" }) : undefined;
}

/** What is wrong with a value of a type of its own (times, quantities…) that is nowhere in particular. */
export function decodingValue(type: string, value: unknown): string | undefined {
  return ownProblem(type, { value, place: undefined });
}

function structProblem(tables: Tables, struct: string, at: { value: unknown; path: string }): string | undefined {
  const fields = tables.byName(struct);
  const problems = Object.entries(at.value as Record<string, unknown>).map(([name, value]) => {
    const field = fields?.get(name);
    if (!field || value === null) return undefined;
    const place = { struct, path: extended(at.path, at.path === "" ? name : `.${name}`) };
    return fieldProblem(tables, field, { value, place });
  });
  return worst(problems);
}

function fieldProblem(
  tables: Tables,
  field: Field,
  { value, place }: { value: unknown; place: Place },
): string | undefined {
  const { shape } = field;
  const type = field.name === "uid" && field.type === "string" ? UID : field.type;
  if (shape === "one") return valueProblem(tables, type, { value, place });
  const isWhole = shape === "list" ? Array.isArray(value) : isRecord(value);
  if (!isWhole) return mismatch(value, place, containerName(shape, type));
  // Named list types in a map are lists each.
  const each: Field | undefined = shape === "map" && field.wrapped ? { ...field, shape: "list" } : undefined;
  const problems = Object.values(value as Record<string, unknown>).map((item) => {
    if (item === null) return undefined;
    return each
      ? fieldProblem(tables, each, { value: item, place })
      : valueProblem(tables, type, { value: item, place });
  });
  return worst(problems);
}

function valueProblem(
  tables: Tables,
  type: string,
  { value, place }: { value: unknown; place: Place },
): string | undefined {
  if (type.includes(".") && type !== UID) {
    if (!isRecord(value)) return mismatch(value, place, goName(type));
    return structProblem(tables, type, { value, path: place.path });
  }
  switch (type) {
    case "string":
    case UID:
      return typeof value === "string" ? undefined : mismatch(value, place, type);
    case "bool":
      return typeof value === "boolean" ? undefined : mismatch(value, place, type);
    case "int32":
    case "int64":
      return integerProblem(value, place, type);
    case "double":
      return typeof value === "number" ? undefined : mismatch(value, place, goName(type));
    default:
      return ownProblem(type, { value, place });
  }
}

function ownProblem(type: string, { value, place }: { value: unknown; place: Place | undefined }): string | undefined {
  switch (type) {
    case "bytes":
      return bytesProblem(value, place);
    case "Quantity":
      return quantityProblem(value);
    case "Time":
    case "MicroTime":
      return typeof value === "string" ? timeProblem(value, type) : mismatch(value, place, "string");
    case "IntOrString":
      return typeof value === "string" ? undefined : integerProblem(value, place, "int32");
    default:
      return undefined;
  }
}

function integerProblem(value: unknown, place: Place | undefined, type: "int32" | "int64"): string | undefined {
  if (typeof value !== "number") return mismatch(value, place, type);
  const limit = RANGES[type] ?? 0;
  if (Number.isInteger(value) && value >= -limit && value < limit) return undefined;
  return mismatch(value, place, type, `number ${value}`);
}

function bytesProblem(value: unknown, place: Place | undefined): string | undefined {
  if (Array.isArray(value)) return numbersProblem(value as unknown[], place);
  if (typeof value !== "string") return mismatch(value, place, "[]uint8");
  const text = value.replace(/[\r\n]/g, "");
  const wrong = text.search(/[^A-Za-z0-9+/=]|=(?!=?$)/);
  if (wrong >= 0) return `illegal base64 data at input byte ${wrong}`;
  return text.length % 4 === 0 ? undefined : `illegal base64 data at input byte ${text.length - (text.length % 4)}`;
}

/** Bytes may come as numbers too. */
function numbersProblem(values: readonly unknown[], place: Place | undefined): string | undefined {
  const isByte = (v: unknown): boolean => v === null || (Number.isInteger(v) && Number(v) >= 0 && Number(v) < 256);
  const wrong = values.find((v) => !isByte(v));
  if (wrong === undefined) return undefined;
  return mismatch(wrong, place, "uint8", typeof wrong === "number" ? `number ${wrong}` : jsonType(wrong));
}

function quantityProblem(value: unknown): string | undefined {
  return (typeof value === "string" || typeof value === "number") && QUANTITY.test(String(value))
    ? undefined
    : QUANTITY_RULE;
}

const HEX = Buffer.from("0123456789abcdef");
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_X = 0x78;

function timeProblem(value: string, type: "Time" | "MicroTime"): string | undefined {
  if (TIME.test(value) && !Number.isNaN(Date.parse(value))) return type === "Time" ? undefined : microProblem(value);
  const layout = type === "Time" ? "2006-01-02T15:04:05Z07:00" : "2006-01-02T15:04:05.000000Z07:00";
  const text = quoted(value);
  return `parsing time ${text} as ${quoted(layout)}: cannot parse ${text} as "2006"`;
}

/** A text as Go's messages about times quote it: byte by byte, what is not ASCII as a number. */
function quoted(text: string): string {
  const bytes = Buffer.from(text);
  // A text may have a million bytes: no string is made for each of them.
  const out = Buffer.allocUnsafe(4 * bytes.length + 2);
  let end = out.write('"');
  for (const byte of bytes) {
    if (byte < 0x20 || byte > 0x7f) {
      out[end++] = BACKSLASH;
      out[end++] = LETTER_X;
      out[end++] = HEX[byte >> 4] ?? 0;
      out[end++] = HEX[byte & 0xf] ?? 0;
      continue;
    }
    if (byte === QUOTE || byte === BACKSLASH) out[end++] = BACKSLASH;
    out[end++] = byte;
  }
  end += out.write('"', end);
  return out.toString("latin1", 0, end);
}

/** Microseconds have six digits, no fewer and no more. */
function microProblem(value: string): string | undefined {
  const rest = value.slice("2006-01-02T15:04:05".length);
  if (/^\.\d{6}(Z|[+-])/.test(rest)) return undefined;
  const isLong = /^\.\d{7}/.test(rest);
  const [rejected, as] = isLong ? [rest.slice(7), "Z07:00"] : [rest, ".000000"];
  return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${JSON.stringify(rejected)} as "${as}"`;
}

function mismatch(value: unknown, place: Place | undefined, type: string, what = jsonType(value)): string {
  const target = place ? `Go struct field ${place.struct.split(".")[1]}.${place.path}` : "Go value";
  return `json: cannot unmarshal ${what} into ${target} of type ${type}`;
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Go's name of a list or map; the one of amounts has a name of its own. */
function containerName(shape: Field["shape"], type: string): string {
  if (shape === "list") return `[]${goName(type)}`;
  return type === "Quantity" ? "v1.ResourceList" : `map[string]${goName(type)}`;
}

function goName(type: string): string {
  if (type.includes(".")) return `v1.${type.split(".")[1] ?? ""}`;
  return GO_NAMES[type] ?? type;
}
