import { argument, list, text, whole, type Call, type TemplateFunction } from "./arguments.ts";
import { sprintf } from "./printf.ts";
import { fieldOf, isFields, isList, isTrue, kindOf, show, type Value } from "./values.ts";

/** The functions that Go's text/template has itself. `and` and `or` are evaluated where their arguments are. */
export const builtins: Readonly<Record<string, TemplateFunction>> = {
  not: (call) => !isTrue(argument(call, 0)),
  eq: (call) => {
    const first = argument(call, 0);
    if (call.given.length < 2) throw new Error("error calling eq: missing argument for comparison");
    return call.given.slice(1).some((other) => equal(first, other));
  },
  ne: (call) => !equal(argument(call, 0), argument(call, 1)),
  lt: (call) => order(call) < 0,
  le: (call) => order(call) <= 0,
  gt: (call) => order(call) > 0,
  ge: (call) => order(call) >= 0,
  len: (call) => {
    const value = argument(call, 0);
    if (typeof value === "string") return BigInt(Buffer.byteLength(value));
    if (isList(value)) return BigInt(value.length);
    if (isFields(value)) return BigInt(Object.keys(value).length);
    throw new Error(`error calling len: len of type ${kindOf(value)}`);
  },
  index: (call) => {
    let value = argument(call, 0);
    for (let at = 1; at < call.given.length; at++) value = indexed(call, value, at);
    return value;
  },
  slice: (call) => {
    const value = argument(call, 0);
    const from = call.given.length > 1 ? Number(whole(call, 1)) : 0;
    const length = typeof value === "string" ? value.length : list(call, 0).length;
    const to = call.given.length > 2 ? Number(whole(call, 2)) : length;
    if (from < 0 || to < from || to > length) throw new Error(`error calling slice: index out of range: ${to}`);
    return typeof value === "string" ? value.slice(from, to) : list(call, 0).slice(from, to);
  },
  print: ({ given }) => printed(given),
  println: ({ given }) => `${given.map(show).join(" ")}\n`,
  printf: (call) => sprintf(call.meter, text(call, 0), call.given.slice(1)),
  html: ({ given }) => printed(given).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`),
  js: ({ given }) => JSON.stringify(printed(given)).slice(1, -1),
  urlquery: ({ given }) => encodeURIComponent(printed(given)).replaceAll("%20", "+"),
};

/** fmt.Sprint: a blank between two values of which none is a text. */
function printed(values: readonly Value[]): string {
  return values.reduce<string>((shown, value, at) => {
    const blank = at > 0 && typeof value !== "string" && typeof values[at - 1] !== "string" ? " " : "";
    return shown + blank + show(value);
  }, "");
}

function equal(a: Value, b: Value): boolean {
  const [one, other] = [a ?? null, b ?? null];
  if (one === null || other === null) return one === other;
  for (const value of [one, other]) {
    if (isList(value) || isFields(value)) throw new Error(`error calling eq: non-comparable type ${kindOf(value)}`);
  }
  if (kindOf(one) !== kindOf(other)) throw new Error("error calling eq: incompatible types for comparison");
  return one === other;
}

function order(call: Call): number {
  const [a, b] = [argument(call, 0), argument(call, 1)];
  const isOrdered = ["string", "number", "bigint"].includes(typeof a);
  if (!isOrdered) throw new Error(`error calling ${call.name}: invalid type for comparison`);
  if (typeof a !== typeof b) throw new Error(`error calling ${call.name}: incompatible types for comparison`);
  const [first, second] = [a as string, b as string];
  return first < second ? -1 : first > second ? 1 : 0;
}

function indexed(call: Call, value: Value, at: number): Value {
  const key = argument(call, at);
  if (isFields(value)) {
    if (typeof key !== "string")
      throw new Error(`error calling index: value has type ${kindOf(key)}; should be string`);
    return fieldOf(value, key);
  }
  if (!isList(value) && typeof value !== "string")
    throw new Error(`error calling index: can't index item of type ${kindOf(value)}`);
  const place = Number(whole(call, at));
  if (place < 0 || place >= value.length) throw new Error(`error calling index: index out of range: ${place}`);
  return typeof value === "string" ? BigInt(Buffer.from(value)[place] ?? 0) : value[place];
}
