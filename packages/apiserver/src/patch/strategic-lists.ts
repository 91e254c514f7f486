import { CausewayError } from "@causeway/foundation";
import { goText, goType } from "../json/go-text.ts";
import { isObject, type Json } from "../json/values.ts";
import {
  DIRECTIVE,
  directedName,
  ELEMENT_ORDER,
  listShape,
  type Bag,
  type ListShape,
  type Shape,
} from "./strategic-shapes.ts";

type List = readonly Json[];
type MergeObject = (original: Bag, patch: Bag, shape: Shape) => Bag;

/** How a list merges. */
interface ListMerge extends ListShape {
  /** The items of the patch are removed, not added. */
  readonly isDeletion: boolean;
  readonly mergeObject: MergeObject;
}

/**
 * Merges two lists: items of objects by their key, values as a set. Throws PATCH_DIRECTIVE for items that cannot be
 * found.
 */
export function mergeLists([original, patch]: readonly [List, List], merging: ListMerge): List {
  const { mergeKey = "", isDeletion } = merging;
  if (original.length === 0 && patch.length === 0) return original;
  const type = itemType([original, patch]);
  if (type !== "map[string]interface {}") {
    const values = new Set(patch);
    if (isDeletion) return original.filter((item) => !values.has(item));
    return arranged(deduplicated([...original, ...patch]), { order: patch, before: original, key: mergeKey });
  }
  if (mergeKey === "") throw unfollowed("cannot merge lists without merge key for struct");
  const [kept, brought] = withoutDirected([original, patch as readonly Bag[]], mergeKey);
  const merged = mergeItems([kept, brought], { ...merging, key: mergeKey });
  return arranged(merged, { order: brought as List, before: kept, key: mergeKey });
}

/** What the items with directives leave of the list, and the patch without them. */
function withoutDirected([original, patch]: readonly [List, readonly Bag[]], key: string): [List, readonly Bag[]] {
  const deleted = new Set<unknown>();
  const plain = patch.filter((item) => !Object.hasOwn(item, DIRECTIVE));
  let isReplaced = false;
  for (const item of patch.filter((i) => Object.hasOwn(i, DIRECTIVE))) {
    const directive = item[DIRECTIVE];
    if (directive === "merge") throw unfollowed("merging lists cannot yet be specified in the patch");
    if (directive === "replace") isReplaced = true;
    else if (directive !== "delete") {
      throw unfollowed(`unknown patch type: ${goText(directive as Json)} in map: ${goText(item as Json)}`);
    } else {
      if (!Object.hasOwn(item, key)) throw keyless(item, key);
      deleted.add(item[key]);
    }
  }
  if (isReplaced) return [plain as List, []];
  return [deleted.size === 0 ? original : original.filter((other) => !deleted.has((other as Bag)[key])), plain];
}

function mergeItems(
  [original, patch]: readonly [List, readonly Bag[]],
  { key, items, mergeObject }: ListMerge & { readonly key: string },
): List {
  const merged = [...original] as Bag[];
  const places = placesOf(merged.map((item) => (Object.hasOwn(item, key) ? item[key] : NO_KEY)));
  for (const item of patch) {
    if (!Object.hasOwn(item, key)) throw keyless(item, key);
    const index = places.get(item[key]);
    if (index !== undefined) merged[index] = mergeObject(merged[index] ?? {}, item, items);
    else {
      places.set(item[key], merged.length);
      merged.push(item);
    }
  }
  return merged as List;
}

const NO_KEY = Symbol("item without the merge key");

/** Where each value is first. */
function placesOf(values: readonly unknown[]): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [i, value] of values.entries()) if (!places.has(value)) places.set(value, i);
  return places;
}

/** Each value once. A value that came twice gives its place to the last one: so kube-apiserver does it. */
export function deduplicated(items: List): List {
  const left = [...items];
  const places = new Map<Json, Set<number>>();
  for (const [i, value] of left.entries()) {
    const known = places.get(value);
    if (known) known.add(i);
    else places.set(value, new Set([i]));
  }
  for (let i = 0; i < left.length; i += 1) {
    const value = left[i] ?? null;
    const own = places.get(value) ?? new Set();
    if (own.size < 2) continue;
    for (const j of [...own].filter((place) => place > i).toSorted((a, b) => a - b)) {
      // The last value may be the same one, which is not there twice then.
      while (j < left.length && left[j] === value) takePlace(left, j, places);
    }
  }
  return left;
}

/** The last value goes to a place whose value goes. */
function takePlace(left: Json[], place: number, places: ReadonlyMap<Json, Set<number>>): void {
  const end = left.length - 1;
  const last = left[end] ?? null;
  places.get(left[place] ?? null)?.delete(place);
  left.pop();
  places.get(last)?.delete(end);
  if (place === end) return;
  left[place] = last;
  places.get(last)?.add(place);
}

interface Arrangement {
  /** The order that is requested. */
  readonly order: List;
  /** The order that was. */
  readonly before: List;
  readonly key: string;
}

/** Items that the order names are in its order; the others keep their places among them. */
function arranged(merged: List, { order, before, key }: Arrangement): List {
  const identity = (item: Json): unknown => (isObject(item) ? (item as Bag)[key] : item);
  if (key !== "") for (const item of merged) if (!Object.hasOwn(item as Bag, key)) throw keyless(item as Bag, key);
  const [inOrder, inBefore] = [placesOf(order.map(identity)), placesOf(before.map(identity))];
  const placeIn = (places: ReadonlyMap<unknown, number>, item: Json): number => places.get(identity(item)) ?? -1;
  const by =
    (places: ReadonlyMap<unknown, number>) =>
    (a: Json, b: Json): number =>
      placeIn(places, a) - placeIn(places, b);
  const named = merged.filter((item) => placeIn(inOrder, item) >= 0).toSorted(by(inOrder));
  const others = merged.filter((item) => placeIn(inOrder, item) < 0).toSorted(by(inBefore));
  const result: Json[] = [];
  let taken = 0;
  for (const item of named) {
    const place = placeIn(inBefore, item);
    for (let next = others[taken]; place >= 0 && next !== undefined; next = others[taken]) {
      if (!isBefore(placeIn(inBefore, next), place)) break;
      result.push(next);
      taken += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(taken)];
}

function isBefore(place: number, other: number): boolean {
  return place >= 0 && place < other;
}

interface ElementOrder {
  readonly shape: Shape;
  readonly mergeObject: MergeObject;
  /** What is new without directives; undefined when it is one itself. */
  readonly fresh: (value: unknown) => unknown;
}

/** Merges the lists that the patch gives an order for, in place, and takes both from the patch. */
export function orderedLists(original: Bag, patch: Bag, { shape, mergeObject, fresh }: ElementOrder): void {
  for (const given of Object.keys(patch).filter((name) => name.startsWith(ELEMENT_ORDER))) {
    const order = listIn(patch, given);
    delete patch[given];
    const name = directedName(given, ELEMENT_ORDER);
    const before = listIn(original, name);
    const brought = listIn(patch, name);
    const list = listShape(shape, name);
    refuseOtherOrder(brought ?? [], order ?? [], list.mergeKey ?? "");
    if (!before && !brought) continue;
    const merged = mergedFor(list, { before, brought, fresh, mergeObject });
    const key = list.mergeKey ?? "";
    const type = itemType([before ?? [], brought ?? []]);
    original[name] = arranged(merged, {
      order: order ?? [],
      before: before ?? [],
      key: type.startsWith("map") ? key : "",
    });
    delete patch[name];
  }
}

interface Parts {
  readonly before: List | undefined;
  readonly brought: List | undefined;
  readonly fresh: ElementOrder["fresh"];
  readonly mergeObject: MergeObject;
}

function mergedFor(list: ListShape, { before, brought, fresh, mergeObject }: Parts): List {
  if (!brought) return before ?? [];
  if (!before) return fresh(brought) as List;
  if (list.mergeKey === undefined) return brought;
  return mergeLists([before, brought], { ...list, isDeletion: false, mergeObject });
}

function listIn(object: Bag, name: string): List | undefined {
  const value = object[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value as List;
  const type = value === null ? "%!s(<nil>)" : goType(value as Json);
  throw unfollowed(`expected a []interface {}, but received a ${type}`);
}

/** The order has to name all that the patch brings, in the order in which the patch brings it. */
function refuseOtherOrder(brought: List, order: List, key: string): void {
  if (brought.length === 0 || order.length === 0) return;
  const isDirected = (item: Json): boolean => isObject(item) && Object.hasOwn(item, DIRECTIVE);
  const named = brought.filter((item) => !isDirected(item));
  let passed = 0;
  for (const wanted of order) {
    const next = named[passed];
    if (next === undefined) return;
    if (key === "" ? next === wanted : keyOf(next, key) === keyOf(wanted, key)) passed += 1;
  }
  if (passed === named.length) return;
  const lists = `${goText(brought)}\n doesn't match ${ELEMENT_ORDER} list:\n${goText(order)}`;
  throw unfollowed(`The order in patch list:\n${lists}\n`);
}

function keyOf(item: Json, key: string): unknown {
  if (!isObject(item)) {
    throw unfollowed(`expected a map[string]interface {}, but received a ${goType(item)}`);
  }
  if (!Object.hasOwn(item, key)) throw keyless(item as Bag, key);
  return item[key];
}

/** The type that all items have. Throws PATCH_DIRECTIVE when they have several, PATCH_FAILED for lists. */
function itemType(lists: readonly List[]): string {
  const [first, ...others] = lists.flat();
  if (first === undefined) throw unfollowed("no elements in any of the given slices");
  if (Array.isArray(first)) throw new CausewayError("PATCH_FAILED", "lists of lists are not supported");
  const type = goType(first);
  if (others.every((item) => goType(item) === type)) return type;
  throw unfollowed(`list element types are not identical: ${goText(lists as Json)}`);
}

function keyless(item: Bag, key: string): CausewayError {
  const message = `map: ${goText(item as Json)} does not contain declared merge key: ${key}`;
  return new CausewayError("PATCH_DIRECTIVE", message, { hint: "Give every item of the list its key." });
}

function unfollowed(message: string): CausewayError {
  return new CausewayError("PATCH_DIRECTIVE", message);
}
