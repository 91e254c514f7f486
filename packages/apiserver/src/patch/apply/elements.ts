import { CausewayError } from "@causeway/foundation";
import { isList, isObject, type Json, type JsonObject } from "../../json/values.ts";
import type { ListType } from "../../schema/merge-type.ts";

/** The path element of an item of a list with keys or of a set; or why it has none. */
export function itemElement(item: Json, list: ListType): { readonly element: string } | { readonly problem: string } {
  if (list.relation === "set") return valueElement(item);
  if (item === null) return { problem: "associative list with keys may not have a null element" };
  if (!isObject(item)) return { problem: "associative list with keys may not have non-map elements" };
  const [first, second] = list.keys;
  // The common case, which needs no object between.
  if (first !== undefined && second === undefined) {
    const value = keyOf(item, first, list);
    if (value !== undefined) return { element: `k:{${JSON.stringify(first)}:${JSON.stringify(value)}}` };
  }
  const keys = list.keys.toSorted().flatMap((key): [string, Json][] => {
    const value = keyOf(item, key, list);
    return value === undefined ? [] : [[key, value]];
  });
  if (keys.length > 0) return { element: `k:${JSON.stringify(Object.fromEntries(keys))}` };
  const names = `[${list.keys.map((key) => JSON.stringify(key)).join(" ")}]`;
  const problem = `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`;
  return { problem };
}

/** Null is a value like another. */
function keyOf(item: JsonObject, key: string, { keyDefaults }: ListType): Json | undefined {
  if (Object.hasOwn(item, key)) return item[key];
  return Object.hasOwn(keyDefaults, key) ? keyDefaults[key] : undefined;
}

function valueElement(item: Json): { readonly element: string } | { readonly problem: string } {
  if (isObject(item)) return { problem: "associative list without keys has an element that's a map type" };
  if (isList(item)) return { problem: "not supported: associative list with lists as elements" };
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
  return { element: `v:${JSON.stringify(item)}` };
}

/** The element of every item. Throws APPLY_INVALID for an item that has none. */
export function elementsOf(items: readonly Json[], list: ListType): readonly (readonly [string, Json])[] {
  return items.map((item) => {
    const found = itemElement(item, list);
    if ("element" in found) return [found.element, item] as const;
    throw new CausewayError("APPLY_INVALID", found.problem, { hint: "Give every item of the list its key." });
  });
}

/** As apimachinery prints it: `.name`, `[name="a",port=1]`, `[="a"]`. */
export function printed(element: string): string {
  const text = element.slice(2);
  if (element.startsWith("f:")) return `.${text}`;
  if (element.startsWith("v:")) return `[=${text}]`;
  if (element.startsWith("i:")) return `[${text}]`;
  const keys = JSON.parse(text) as JsonObject;
  return `[${Object.entries(keys)
    .map(([name, value]) => `${name}=${printedValue(value)}`)
    .join(",")}]`;
}

function printedValue(value: Json): string {
  if (isList(value)) return `[${value.map(printedValue).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, child]) => `${name}=${printedValue(child)}`)
    .join("");
}
