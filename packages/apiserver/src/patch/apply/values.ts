import type { Shape } from "../../schema/shape.ts";
import { isList, isObject, type Json, type JsonObject, jsonEqual } from "../json.ts";
import { partsOf, type Parts } from "./elements.ts";
import { EMPTY, type FieldSet, fieldSet, LEAF, union } from "./field-set.ts";

/** Every field that a configuration sets: what its applier will own. */
export function fieldsOf(value: Json, shape: Shape): FieldSet {
  const parts = partsOf(value, shape);
  if (parts === undefined) return LEAF;
  return fieldSet(
    false,
    [...parts].map(([element, part]) => {
      const below = fieldsOf(part.value, part.shape);
      const whole = part.alwaysMember || isEmptyObject(part.value);
      return [element, whole ? union(LEAF, below) : below] as const;
    }),
  );
}

function isEmptyObject(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** What differs between two values, by field. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };

export function compare(before: Json | undefined, after: Json | undefined, shape: Shape): Comparison {
  if (before === undefined && after === undefined) return SAME;
  if (before === undefined) return { ...SAME, added: everyField(after ?? null, shape) };
  if (after === undefined) return { ...SAME, removed: everyField(before, shape) };
  const [partsBefore, partsAfter] = [partsOf(before, shape), partsOf(after, shape)];
  if (partsBefore === undefined || partsAfter === undefined) {
    return jsonEqual(before, after) ? SAME : { ...SAME, modified: LEAF };
  }
  const elements = new Set([...partsBefore.keys(), ...partsAfter.keys()]);
  const compared = [...elements].map((element) => [element, comparePart(partsBefore, partsAfter, element)] as const);
  return {
    added: fieldSet(
      false,
      compared.map(([element, c]) => [element, c.added] as const),
    ),
    modified: fieldSet(
      false,
      compared.map(([element, c]) => [element, c.modified] as const),
    ),
    removed: fieldSet(
      false,
      compared.map(([element, c]) => [element, c.removed] as const),
    ),
  };
}

function comparePart(before: Parts, after: Parts, element: string): Comparison {
  const [old, now] = [before.get(element), after.get(element)];
  const shape = now?.shape ?? old?.shape;
  return shape === undefined ? SAME : compare(old?.value, now?.value, shape);
}

/** A value and all in it, containers too. */
function everyField(value: Json, shape: Shape): FieldSet {
  const parts = partsOf(value, shape);
  if (parts === undefined) return LEAF;
  return fieldSet(
    true,
    [...parts].map(([element, part]) => [element, everyField(part.value, part.shape)] as const),
  );
}

/** The live value with a configuration laid over it; lists keep the configuration's order, and the live one's where it says nothing. */
export function merge(live: Json | undefined, applied: Json, shape: Shape): Json {
  const [partsLive, partsApplied] = [partsOf(live, shape), partsOf(applied, shape)];
  if (partsApplied === undefined || live === undefined || partsLive === undefined) return applied;
  if (shape.kind === "struct") {
    const merged = new Map([...partsLive].map(([element, part]) => [element, part.value]));
    for (const [element, part] of partsApplied) merged.set(element, merge(merged.get(element), part.value, part.shape));
    return Object.fromEntries([...merged].map(([element, value]) => [element.slice(2), value]));
  }
  return mergeList(partsLive, partsApplied);
}

function mergeList(live: Parts, applied: Parts): Json {
  const result: Json[] = [];
  const places = new Map([...live.keys()].map((element, i) => [element, i]));
  const rest = [...live].filter(([element]) => !applied.has(element));
  const flushTo = (place: number): void => {
    while (rest[0] !== undefined && (places.get(rest[0][0]) ?? 0) < place)
      result.push(...rest.splice(0, 1).map(([, part]) => part.value));
  };
  for (const [element, part] of applied) {
    flushTo(places.get(element) ?? -1);
    result.push(merge(live.get(element)?.value, part.value, part.shape));
  }
  flushTo(Infinity);
  return result;
}

/** The value without the paths of a set, and all below them. */
export function removePaths(value: Json, paths: FieldSet, shape: Shape): Json {
  const parts = partsOf(value, shape);
  if (parts === undefined || paths.children.size === 0) return value;
  const kept = [...parts].flatMap(([element, part]): [string, Json][] => {
    const below = paths.children.get(element);
    if (below === undefined) return [[element, part.value]];
    return below.member ? [] : [[element, removePaths(part.value, below, part.shape)]];
  });
  if (isList(value)) return kept.map(([, item]) => item);
  return Object.fromEntries(
    kept.map(([element, child]): [string, Json] => [element.slice(2), child]),
  ) satisfies JsonObject;
}
