import {
  argument,
  count,
  fields,
  float,
  list,
  text,
  toInteger,
  whole,
  type Call,
  type TemplateFunction,
} from "./arguments.ts";
import { satisfies } from "./semver-range.ts";
import { fieldOf, isFields, isTrue, show, toJson, type Fields, type Value } from "./values.ts";

/** sprig's functions of lists, maps, numbers and defaults. */
export const dataFunctions: Readonly<Record<string, TemplateFunction>> = {
  default: (call) => (call.given.length > 1 && isTrue(call.given[1]) ? call.given[1] : argument(call, 0)),
  empty: (call) => !isTrue(argument(call, 0)),
  coalesce: ({ given }) => given.find(isTrue),
  all: ({ given }) => given.every(isTrue),
  any: ({ given }) => given.some(isTrue),
  ternary: (call) => (isTrue(argument(call, 2)) ? argument(call, 0) : argument(call, 1)),
  list: ({ given }) => given,
  tuple: ({ given }) => given,
  first: (call) => list(call, 0)[0],
  last: (call) => list(call, 0).at(-1),
  rest: (call) => list(call, 0).slice(1),
  initial: (call) => list(call, 0).slice(0, -1),
  append: (call) => [...list(call, 0), argument(call, 1)],
  push: (call) => [...list(call, 0), argument(call, 1)],
  prepend: (call) => [argument(call, 1), ...list(call, 0)],
  concat: (call) => call.given.flatMap((_, at) => list(call, at)),
  reverse: (call) => list(call, 0).toReversed(),
  uniq: (call) => [...new Map(list(call, 0).map((value) => [keyed(value), value])).values()],
  compact: (call) => list(call, 0).filter(isTrue),
  without: (call) => {
    const omitted = new Set(call.given.slice(1).map(keyed));
    return list(call, 0).filter((value) => !omitted.has(keyed(value)));
  },
  has: (call) => list(call, 1).some((value) => keyed(value) === keyed(argument(call, 0))),
  sortAlpha: (call) => list(call, 0).map(show).toSorted(),
  until: (call) => counted(0, count(call, 0), 1),
  untilStep: (call) => counted(count(call, 0), count(call, 1), count(call, 2)),
  dict: (call) => {
    const pairs: [string, Value][] = [];
    for (let at = 0; at < call.given.length; at += 2) pairs.push([text(call, at), call.given[at + 1] ?? ""]);
    return Object.fromEntries(pairs);
  },
  get: (call) => fieldOf(fields(call, 0), text(call, 1)) ?? "",
  set: (call) => Object.fromEntries([...Object.entries(fields(call, 0)), [text(call, 1), argument(call, 2)]]),
  unset: (call) => kept(fields(call, 0), (name) => name !== text(call, 1)),
  hasKey: (call) => Object.hasOwn(fields(call, 0), text(call, 1)),
  keys: (call) => call.given.flatMap((_, at) => Object.keys(fields(call, at))),
  values: (call) => Object.values(fields(call, 0)),
  pick: (call) => {
    const names = new Set(call.given.slice(1).map(show));
    return kept(fields(call, 0), (name) => names.has(name));
  },
  omit: (call) => {
    const names = new Set(call.given.slice(1).map(show));
    return kept(fields(call, 0), (name) => !names.has(name));
  },
  pluck: (call) =>
    call.given
      .slice(1)
      .flatMap((map) => (isFields(map) && Object.hasOwn(map, text(call, 0)) ? [map[text(call, 0)]] : [])),
  merge: (call) =>
    Object.fromEntries(
      call.given.toReversed().flatMap((_, at) => Object.entries(fields(call, call.given.length - 1 - at))),
    ),
  int: (call) => whole(call, 0),
  int64: (call) => whole(call, 0),
  float64: (call) => float(call, 0),
  atoi: (call) => toInteger(text(call, 0)),
  add: (call) => total(call, 0n, (a, b) => a + b),
  add1: (call) => whole(call, 0) + 1n,
  sub: (call) => whole(call, 0) - whole(call, 1),
  mul: (call) => total(call, 1n, (a, b) => BigInt.asIntN(64, a * b)),
  div: (call) => whole(call, 0) / divisor(call),
  mod: (call) => whole(call, 0) % divisor(call),
  max: (call) => total(call, whole(call, 0), (a, b) => (a > b ? a : b)),
  min: (call) => total(call, whole(call, 0), (a, b) => (a < b ? a : b)),
  ceil: (call) => Math.ceil(float(call, 0)),
  floor: (call) => Math.floor(float(call, 0)),
  round: (call) => {
    const scale = 10 ** Math.max(0, Math.min(15, count(call, 1)));
    return Math.round(float(call, 0) * scale) / scale;
  },
  semverCompare: (call) => satisfies(text(call, 1), text(call, 0)),
};

function keyed(value: Value): string {
  return `${typeof value} ${JSON.stringify(toJson(value))}`;
}

function kept(map: Fields, keep: (name: string) => boolean): Fields {
  return Object.fromEntries(Object.entries(map).filter(([name]) => keep(name)));
}

function counted(from: number, to: number, step: number): bigint[] {
  const numbers: bigint[] = [];
  if (step === 0) return numbers;
  for (let at = from; step > 0 ? at < to : at > to; at += step) numbers.push(BigInt(at));
  return numbers;
}

function total(call: Call, from: bigint, combine: (a: bigint, b: bigint) => bigint): bigint {
  return call.given.reduce<bigint>((sum, _, at) => combine(sum, whole(call, at)), from);
}

function divisor(call: Call): bigint {
  const value = whole(call, 1);
  if (value === 0n) throw new Error(`error calling ${call.name}: integer divide by zero`);
  return value;
}
