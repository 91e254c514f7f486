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
      const whole = part.alwaysMember || isEmptyContainer(part.value);
      return [element, whole ? union(LEAF, below) : below] as const;
    }),
  );
}

/** Nothing in it can be owned, so it is owned itself: else the next apply would take it away. */
function isEmptyContainer(value: Json): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
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
  const [partsBefore, partsAfter] = [
    partsOf(before ?? emptied(after), shape),
    partsOf(after ?? emptied(before), shape),
  ];
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

/** A list or object that is null is compared as one that is empty. */
function emptied(other: Json): Json {
  return isList(other) ? [] : isObject(other) ? {} : null;
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

/**
 * As structured-merge-diff orders it: the applied items in their order; a live item that is not applied comes before whatever follows it in
 * the live list.
 */
function mergeList(live: Parts, applied: Parts): Json {
  const result: Json[] = [];
  const order = [...live.keys()];
  const shared = [...applied.keys()].filter((element) => live.has(element));
  let at = 0;
  for (const [element, part] of applied) {
    for (; at < order.length; at += 1) {
      const next = order[at] ?? "";
      const isShared = applied.has(next);
      if (isShared && (next === element || shared[0] === undefined || shared[0] === next)) break;
      if (!isShared) result.push(live.get(next)?.value ?? null);
    }
    result.push(merge(live.get(element)?.value, part.value, part.shape));
    if (order[at] === element) at += 1;
    if (shared[0] === element) shared.shift();
  }
  const rest = order.slice(at).filter((element) => !applied.has(element));
  return [...result, ...rest.map((element) => live.get(element)?.value ?? null)];
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
