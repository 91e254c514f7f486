import type { Meter } from "./limits.ts";
import { isFields, isList, kindOf, show, type Fields, type Value } from "./values.ts";

/** What a function of templates gets. */
export interface Call {
  readonly name: string;
  readonly meter: Meter;
  readonly given: readonly Value[];
}

/** A function that templates may call. It throws an Error for arguments that it does not accept. */
export type TemplateFunction = (call: Call) => Value;

/** The argument at `index`, counted from 0. @throws Error if there are fewer */
export function argument({ given, name }: Call, index: number): Value {
  if (index >= given.length)
    throw new Error(`wrong number of args for ${name}: want at least ${index + 1} got ${given.length}`);
  return given[index];
}

/** A text argument; other scalars are shown, as sprig's functions that take any value do. */
export function text(call: Call, index: number): string {
  const value = argument(call, index);
  if (isList(value) || isFields(value)) throw wrong(call, value, "string");
  return value === null || value === undefined ? "" : show(value);
}

/** An integer argument, as toInteger reads it. @throws Error for lists, maps and infinity */
export function whole(call: Call, index: number): bigint {
  const value = toInteger(argument(call, index));
  if (value === undefined) throw wrong(call, argument(call, index), "int");
  return value;
}

/** An integer argument that counts something: at most 10,000. */
export function count(call: Call, index: number): number {
  const value = whole(call, index);
  if (value < -10_000n || value > 10_000n)
    throw new Error(`${call.name}: ${value} is more than a template may ask for`);
  return Number(value);
}

/** A number argument; texts are parsed, and what is no number is 0. @throws Error for lists and maps */
export function float(call: Call, index: number): number {
  const value = argument(call, index);
  if (typeof value === "number") return value;
  if (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
  const integer = toInteger(value);
  if (integer === undefined) throw wrong(call, value, "float64");
  return Number(integer);
}

/** A list argument, which costs a step for each item; nil is the empty list. @throws Error for other values */
export function list(call: Call, index: number): readonly Value[] {
  const value = argument(call, index);
  if (value === null || value === undefined) return [];
  if (!isList(value)) throw wrong(call, value, "list");
  call.meter.spend(value.length);
  return value;
}

/** A map argument, which costs a step for each key; nil is the empty map. @throws Error for other values */
export function fields(call: Call, index: number): Fields {
  const value = argument(call, index);
  if (value === null || value === undefined) return {};
  if (!isFields(value)) throw wrong(call, value, "map");
  call.meter.spend(Object.keys(value).length);
  return value;
}

/** The error for an argument of another kind, such as "expected list, got map". */
export function wrong({ name }: Call, value: Value, wanted: string): Error {
  return new Error(`error calling ${name}: expected ${wanted}, got ${kindOf(value)}`);
}

/** sprig's int64: numbers are cut, texts parsed; anything that is no number is 0, as there. */
export function toInteger(value: Value): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "string") return /^[+-]?\d{1,18}$/.test(value.trim()) ? BigInt(value.trim()) : 0n;
  return value === null || value === undefined ? 0n : undefined;
}
