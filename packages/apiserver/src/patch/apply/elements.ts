import { CausewayError, messageOf } from "@causeway/foundation";
import { ATOMIC, type Shape } from "../../schema/shape.ts";
import { isList, isObject, type Json, type JsonObject, own } from "../json.ts";

/** The parts of a value that have owners of their own, by path element; undefined when it is owned as a whole. */
export type Parts = ReadonlyMap<
  string,
  { readonly value: Json; readonly shape: Shape; readonly alwaysMember: boolean }
>;

/** Takes a value apart by its shape. Throws APPLY_INVALID for a list item without its keys, or with those of another. */
export function partsOf(value: Json | undefined, shape: Shape): Parts | undefined {
  if (isObject(value) && shape.kind === "struct") {
    return new Map(
      Object.entries(value).map(([name, child]) => [
        `f:${name}`,
        { value: child, shape: shape.field(name), alwaysMember: shape.isKey(name) },
      ]),
    );
  }
  if (isList(value) && shape.kind === "set") {
    return uniquely(value, (item) => [`v:${JSON.stringify(item)}`, { value: item, shape: ATOMIC, alwaysMember: true }]);
  }
  if (isList(value) && shape.kind === "map") {
    return uniquely(value, (item) => [
      itemElement(item, shape),
      { value: item, shape: shape.item, alwaysMember: true },
    ]);
  }
  return undefined;
}

function uniquely<Part>(list: readonly Json[], part: (item: Json) => readonly [string, Part]): Map<string, Part> {
  const parts = new Map<string, Part>();
  for (const item of list) {
    const [element, value] = part(item);
    // Stored objects may hold a value twice (a set that grew by updates): the first one stands for both.
    if (!parts.has(element)) parts.set(element, value);
  }
  return parts;
}

/** The path element of an item of a list with keys. */
export function itemElement(item: Json, shape: Extract<Shape, { kind: "map" }>): string {
  const object: JsonObject = isObject(item) ? item : {};
  const keys = shape.keys.toSorted().flatMap((key): [string, Json][] => {
    const value = own(object, key) ?? shape.keyDefaults[key];
    return value === undefined ? [] : [[key, value]];
  });
  if (keys.length === 0) {
    throw new CausewayError(
      "APPLY_INVALID",
      `associative list with keys has an element that omits all key fields ${JSON.stringify(shape.keys)} (and doesn't have default values for any key fields)`,
      { hint: "Give every item of the list its key." },
    );
  }
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

function refuseKeyless(item: Json, shape: Extract<Shape, { kind: "map" }>, where: string): void {
  try {
    itemElement(item, shape);
  } catch (error) {
    throw new CausewayError("APPLY_INVALID", `${where}: ${messageOf(error)}`, {
      hint: "Give every item its key.",
      cause: error,
    });
  }
}

/** Refuses an applied configuration that names an item twice. */
export function refuseDuplicates(value: Json, shape: Shape, path = ""): void {
  if (isList(value) && shape.kind === "map")
    value.forEach((item, i) => refuseKeyless(item, shape, `${path}: element ${i}`));
  const parts = partsOf(value, shape);
  if (parts === undefined) return;
  if (isList(value) && parts.size !== value.length) {
    const what = shape.kind === "set" ? "duplicate entries" : "duplicate entries for key";
    throw new CausewayError("APPLY_INVALID", `${path}: ${what}`, { hint: "Name each item once." });
  }
  for (const [element, part] of parts) refuseDuplicates(part.value, part.shape, `${path}.${element.slice(2)}`);
}
