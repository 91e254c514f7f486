import { isRecord, type Json } from "../json/json.ts";
import { decodingValue } from "./decode.ts";
import { structOf, type Field, type Tables } from "./tables.ts";

/**
 * Why a strategic merge made no object of its kind, in the words of Go's converter from maps to structs, which are not
 * those of its decoder; undefined when it did. The fields are read in the order of the struct, as the converter
 * does.
 */
export function conversionProblem(
  tables: Tables,
  object: { apiVersion?: unknown; kind?: unknown },
): string | undefined {
  const struct = structOf(String(object.apiVersion as string), String(object.kind as string));
  return struct === undefined || !tables.byName(struct) ? undefined : structProblem(tables, struct, object);
}

/**
 * Makes numbers what Go's converter makes of them: those beyond 32 bits lose what is beyond. Changes the object in
 * place.
 */
export function convertNumbers(tables: Tables, object: Json): void {
  const struct = structOf(String(object["apiVersion"] as string), String(object["kind"] as string));
  if (struct !== undefined) convertStruct(tables, struct, object);
}

function convertStruct(tables: Tables, struct: string, object: Json): void {
  for (const [name, value] of Object.entries(object)) {
    const field = tables.byName(struct)?.get(name);
    if (field && (field.type === "int32" || field.type.includes(".")))
      object[name] = converted(tables, field.type, value);
  }
}

function converted(tables: Tables, type: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => converted(tables, type, item));
  if (typeof value === "number" && Number.isInteger(value)) return in32Bits(value);
  if (isRecord(value)) convertStruct(tables, type, value);
  return value;
}

function structProblem(tables: Tables, struct: string, value: unknown): string | undefined {
  if (!isRecord(value)) return `cannot restore struct from: ${goKind(value)}`;
  for (const [name, field] of tables.byName(struct) ?? []) {
    const child = value[name];
    const problem = child === undefined || child === null ? undefined : fieldProblem(tables, field, child);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function fieldProblem(tables: Tables, field: Field, value: unknown): string | undefined {
  if (field.shape === "one") return valueProblem(tables, field.type, value);
  const isList = field.shape === "list";
  if (isList ? !Array.isArray(value) : !isRecord(value)) {
    return `cannot restore ${isList ? "slice" : "map"} from ${goKind(value)}`;
  }
  const each: Field = field.shape === "map" && field.wrapped ? { ...field, shape: "list" } : { ...field, shape: "one" };
  for (const item of Object.values(value as object)) {
    const problem = item === null ? undefined : fieldProblem(tables, each, item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const NUMBERS: Readonly<Record<string, string>> = { int32: "int32", int64: "int64", double: "float64" };

function valueProblem(tables: Tables, type: string, value: unknown): string | undefined {
  if (type.includes(".")) return structProblem(tables, type, value);
  if (type === "bytes") return bytesProblem(value);
  if (type === "string") return plainProblem(typeof value === "string", value, type);
  if (type === "bool") return typeof value === "boolean" ? undefined : `unrecognized type: ${type}`;
  const number = NUMBERS[type];
  if (number === undefined) return decodingValue(type, value);
  return plainProblem(typeof value === "number" && (number === "float64" || Number.isInteger(value)), value, number);
}

/** Numbers could be turned into what Go prints for them, but are not. */
function plainProblem(fits: boolean, value: unknown, type: string): string | undefined {
  if (fits) return undefined;
  if (typeof value !== "number" || (type === "string" && !Number.isInteger(value))) return `unrecognized type: ${type}`;
  return `cannot convert ${goKind(value)} to ${type}`;
}

function bytesProblem(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.every(isByte) ? undefined : "unrecognized type: uint8";
  if (typeof value !== "string") return `cannot restore slice from ${goKind(value)}`;
  const problem = decodingValue("bytes", value);
  return problem === undefined ? undefined : `error decoding from json: ${problem}`;
}

/** Nothing is a byte too: none. */
function isByte(value: unknown): boolean {
  return value === null || Number.isInteger(value);
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return "slice";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "map";
}

/** The lower half of 64 bits; of what does not fit into those, nothing is left. */
function in32Bits(value: number): number {
  return Math.abs(value) >= 2 ** 63 ? 0 : Number(BigInt.asIntN(32, BigInt(value)));
}
