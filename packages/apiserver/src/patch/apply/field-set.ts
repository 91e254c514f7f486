import { extended } from "../../bounds.ts";
import { isObject, type Json, type JsonObject } from "../../json/values.ts";
import { printed } from "./elements.ts";

/**
 * A set of field paths as a tree. An element is written as fieldsV1 writes it: `f:name` a field, `k:{"name":"x"}` an
 * item of a list by its keys, `v:"x"` an item of a set. `member` says that the path to here is itself in the set.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

/** No field. */
export const EMPTY: FieldSet = { member: false, children: new Map() };
/** The value itself, as a whole. */
export const LEAF: FieldSet = { member: true, children: new Map() };

/** A set of paths of field names. */
export function pathsSet(...paths: readonly (readonly string[])[]): FieldSet {
  const one = ([name, ...rest]: readonly string[]): FieldSet =>
    name === undefined ? LEAF : { member: false, children: new Map([[`f:${name}`, one(rest)]]) };
  return unionOf(paths.map(one));
}

/** Whether a node is no member and has no children. */
export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** A node without its empty children. */
export function fieldSet(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  const kept = new Map<string, FieldSet>();
  for (const [element, child] of children) if (!isEmpty(child)) kept.set(element, child);
  if (kept.size === 0) return member ? LEAF : EMPTY;
  return { member, children: kept };
}

/*
 * Operations walk what the smaller set has, and return the set that they were given when nothing changes: an object may
 * have many managers that own thousands of fields each, of which one write changes a few.
 */

/** The paths that are in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  let children: Map<string, FieldSet> | undefined;
  for (const [element, child] of b.children) {
    const known = a.children.get(element);
    const merged = known === undefined ? child : union(known, child);
    if (merged !== known) (children ??= new Map(a.children)).set(element, merged);
  }
  return changed(a, a.member || b.member, children);
}

/** The union of any number of sets, in one pass. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = EMPTY, ...others] = sets.filter((set) => !isEmpty(set));
  if (others.length === 0) return first;
  const parts = new Map<string, FieldSet[]>();
  for (const { children } of [first, ...others]) {
    for (const [element, child] of children) {
      const known = parts.get(element);
      if (known) known.push(child);
      else parts.set(element, [child]);
    }
  }
  const children = new Map([...parts].map(([element, same]) => [element, unionOf(same)] as const));
  return { member: sets.some((set) => set.member), children };
}

/** The paths that are in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const element of commonOf(a, b)) {
    const both = intersection(a.children.get(element) ?? EMPTY, b.children.get(element) ?? EMPTY);
    if (!isEmpty(both)) children.set(element, both);
  }
  return { member: a.member && b.member, children };
}

/** The paths of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return reduced(a, b, { member: a.member && !b.member, each: difference });
}

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export function without(a: FieldSet, b: FieldSet): FieldSet {
  return b.member ? EMPTY : reduced(a, b, { member: a.member, each: without });
}

interface Reduction {
  readonly member: boolean;
  readonly each: (a: FieldSet, b: FieldSet) => FieldSet;
}

function reduced(a: FieldSet, b: FieldSet, { member, each }: Reduction): FieldSet {
  let children: Map<string, FieldSet> | undefined;
  for (const element of commonOf(a, b)) {
    const known = a.children.get(element) ?? EMPTY;
    const left = each(known, b.children.get(element) ?? EMPTY);
    if (left === known) continue;
    children ??= new Map(a.children);
    if (isEmpty(left)) children.delete(element);
    else children.set(element, left);
  }
  return changed(a, member, children);
}

function changed(set: FieldSet, member: boolean, children: ReadonlyMap<string, FieldSet> | undefined): FieldSet {
  return children === undefined && member === set.member ? set : { member, children: children ?? set.children };
}

/** The elements that both have at their root. */
function* commonOf(a: FieldSet, b: FieldSet): Iterable<string> {
  const [few, many] = a.children.size < b.children.size ? [a, b] : [b, a];
  for (const element of few.children.keys()) if (many.children.has(element)) yield element;
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

/**
 * Every path of the set, as apimachinery prints it: `.spec.containers[name="a"].image`; what is at a place before
 * what is below it.
 */
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
