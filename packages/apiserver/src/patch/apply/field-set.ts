import { extended } from "../../bounds.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { printed } from "./elements.ts";

/**
 * A set of field paths as a tree. An element is written as fieldsV1 writes it: `f:name` a field, `k:{"name":"x"}` an item of a list by its
 * keys, `v:"x"` an item of a set. `member` says that the path to here is itself in the set.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const EMPTY: FieldSet = { member: false, children: new Map() };
export const LEAF: FieldSet = { member: true, children: new Map() };

/** A set of paths of field names. */
export function pathsSet(...paths: readonly (readonly string[])[]): FieldSet {
  const one = ([name, ...rest]: readonly string[]): FieldSet =>
    name === undefined ? LEAF : { member: false, children: new Map([[`f:${name}`, one(rest)]]) };
  return paths.map(one).reduce(union, EMPTY);
}

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** A node without its empty children. */
export function fieldSet(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { member, children: new Map([...children].filter(([, child]) => !isEmpty(child))) };
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const children = new Map(a.children);
  for (const [element, child] of b.children) children.set(element, union(children.get(element) ?? EMPTY, child));
  return { member: a.member || b.member, children };
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (x, y) => x && y);
}

/** The paths of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (x, y) => x && !y);
}

function combine(a: FieldSet, b: FieldSet, keep: (inA: boolean, inB: boolean) => boolean): FieldSet {
  const children = [...a.children].map(
    ([element, child]) => [element, combine(child, b.children.get(element) ?? EMPTY, keep)] as const,
  );
  return fieldSet(keep(a.member, b.member), children);
}

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export function without(a: FieldSet, b: FieldSet): FieldSet {
  if (b.member) return EMPTY;
  return fieldSet(
    a.member,
    [...a.children].map(([element, child]) => [element, without(child, b.children.get(element) ?? EMPTY)] as const),
  );
}

/** As managedFields[].fieldsV1 carries it. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const own: [string, Json][] = set.member && set.children.size > 0 ? [[".", {}]] : [];
  const children = [...set.children].toSorted(([a], [b]) => order(a, b));
  return Object.fromEntries([...own, ...children.map(([e, child]): [string, Json] => [e, toFieldsV1(child)])]);
}

/** Elements that are none are passed over, so that one broken entry does not keep an object from being written. */
export function fromFieldsV1(wire: unknown, isRoot = true): FieldSet {
  if (!isObject(wire)) return EMPTY;
  const entries = Object.entries(wire).filter(([element]) => /^[fkvi]:/.test(element));
  const member = Object.hasOwn(wire, ".") || (entries.length === 0 && !isRoot);
  return fieldSet(
    member,
    entries.map(([element, child]) => [element, fromFieldsV1(child, false)] as const),
  );
}

/** Every path of the set, as apimachinery prints it: `.spec.containers[name="a"].image`; what stands at a place before what is below it. */
export function printedPaths(set: FieldSet, prefix = ""): string[] {
  const children = [...set.children].toSorted(([a], [b]) => order(a, b));
  const own = children.filter(([, child]) => child.member).map(([element]) => extended(prefix, printed(element)));
  return [...own, ...children.flatMap(([element, child]) => printedPaths(child, extended(prefix, printed(element))))];
}

/** Fields before items by key, those before values. */
function order(a: string, b: string): number {
  const rank = (element: string): number => "fkvi".indexOf(element[0] ?? "");
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}
