import { CausewayError } from "@causeway/foundation";
import { goText, goType } from "./go-text.ts";
import { isObject, type Json } from "./json.ts";
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
interface Merging extends ListShape {
  /** The items of the patch are taken away, not added. */
  readonly isDeletion: boolean;
  readonly mergeObject: MergeObject;
}

/** Merges two lists: items of objects by their key, values as a set. Throws PATCH_DIRECTIVE for items that cannot be found. */
export function mergeLists([original, patch]: readonly [List, List], merging: Merging): List {
  const { mergeKey = "", isDeletion } = merging;
  if (original.length === 0 && patch.length === 0) return original;
  const type = itemType([original, patch]);
  if (type !== "map[string]interface {}") {
    if (isDeletion) return original.filter((item) => !patch.includes(item));
    return arranged(deduplicated([...original, ...patch]), { order: patch, before: original, key: mergeKey });
  }
  if (mergeKey === "") throw unfollowed("cannot merge lists without merge key for struct");
  const [kept, brought] = withoutDirected([original, patch as readonly Bag[]], mergeKey);
  const merged = mergeItems([kept, brought], { ...merging, key: mergeKey });
  return arranged(merged, { order: brought as List, before: kept, key: mergeKey });
}

/** What the items with directives leave of the list, and the patch without them. */
function withoutDirected([original, patch]: readonly [List, readonly Bag[]], key: string): [List, readonly Bag[]] {
  let kept = original;
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
      kept = kept.filter((other) => (other as Bag)[key] !== item[key]);
    }
  }
  return isReplaced ? [plain as List, []] : [kept, plain];
}

function mergeItems(
  [original, patch]: readonly [List, readonly Bag[]],
  { key, items, mergeObject }: Merging & { readonly key: string },
): List {
  const merged = [...original] as Bag[];
  for (const item of patch) {
    if (!Object.hasOwn(item, key)) throw keyless(item, key);
    const index = merged.findIndex((other) => Object.hasOwn(other, key) && other[key] === item[key]);
    if (index < 0) merged.push(item);
    else merged[index] = mergeObject(merged[index] ?? {}, item, items);
  }
  return merged as List;
}

/** Each value once. A value that came twice gives its place to the last one: so kube-apiserver does it. */
function deduplicated(items: List): List {
  const left = [...items];
  for (let i = 0; i < left.length - 1; i += 1) {
    for (let j = i + 1; j < left.length; j += 1) {
      if (left[i] !== left[j]) continue;
      left[j] = left.at(-1) ?? null;
      left.pop();
      j -= 1;
    }
  }
  return left;
}

interface Arrangement {
  /** The order that is asked for. */
  readonly order: List;
  /** The order that was. */
  readonly before: List;
  readonly key: string;
}

/** Items that the order names stand as it has them; the others stand where they stood among them. */
function arranged(merged: List, { order, before, key }: Arrangement): List {
  const identity = (item: Json): unknown => (isObject(item) ? (item as Bag)[key] : item);
  if (key !== "") for (const item of merged) if (!Object.hasOwn(item as Bag, key)) throw keyless(item as Bag, key);
  const placeIn = (list: List, item: Json): number => list.findIndex((other) => identity(other) === identity(item));
  const by =
    (list: List) =>
    (a: Json, b: Json): number =>
      placeIn(list, a) - placeIn(list, b);
  const named = merged.filter((item) => placeIn(order, item) >= 0).toSorted(by(order));
  const others = merged.filter((item) => placeIn(order, item) < 0).toSorted(by(before));
  const result: Json[] = [];
  for (const item of named) {
    const place = placeIn(before, item);
    while (place >= 0 && others[0] !== undefined && isBefore(placeIn(before, others[0]), place)) {
      result.push(...others.splice(0, 1));
    }
    result.push(item);
  }
  return [...result, ...others];
}

function isBefore(place: number, other: number): boolean {
  return place >= 0 && place < other;
}

interface Ordering {
  readonly shape: Shape;
  readonly mergeObject: MergeObject;
  /** What is new without directives; undefined when it is one itself. */
  readonly fresh: (value: unknown) => unknown;
}

/** Merges the lists that the patch gives an order for, in place, and takes both from the patch. */
export function orderedLists(original: Bag, patch: Bag, { shape, mergeObject, fresh }: Ordering): void {
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
    const told = itemType([before ?? [], brought ?? []]);
    original[name] = arranged(merged, {
      order: order ?? [],
      before: before ?? [],
      key: told.startsWith("map") ? key : "",
    });
    delete patch[name];
  }
}

interface Parts {
  readonly before: List | undefined;
  readonly brought: List | undefined;
  readonly fresh: Ordering["fresh"];
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
  const left = brought.filter((item) => !isDirected(item));
  for (const wanted of order) {
    const [next] = left;
    if (next === undefined) return;
    if (key === "" ? next === wanted : keyOf(next, key) === keyOf(wanted, key)) left.shift();
  }
  if (left.length === 0) return;
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
