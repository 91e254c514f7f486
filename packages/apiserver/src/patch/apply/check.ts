import { extended } from "../../bounds.ts";
import { isList, isObject, type Json, type JsonObject } from "../../json/values.ts";
import type { ListType, MapType, MergeType } from "../../schema/merge-type.ts";
import { goText } from "../../json/go-text.ts";
import { itemElement, printed } from "./elements.ts";
import { chosen, narrowed } from "./narrow.ts";

interface Fault {
  readonly path: string;
  readonly message: string;
}

/**
 * Everything in an object that its type does not allow, in the words of structured-merge-diff; undefined when there is
 * nothing. What is stored may have items twice, an applied configuration may not.
 */
export function typeProblem(value: Json, type: MergeType, duplicates: "allowed" | "refused"): string | undefined {
  const found: Fault[] = [];
  visit({ found, duplicates }, value, { type, path: "" });
  const faults = found.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  if (faults.length < 2) return faults[0];
  return ["errors:", ...faults.map((fault) => `  ${fault}`)].join("\n");
}

/** The most faults that one message lists. */
const MAXIMUM_FAULTS = 1000;

interface Search {
  readonly found: Fault[];
  readonly duplicates: "allowed" | "refused";
}

interface Place {
  readonly type: MergeType;
  readonly path: string;
}

function visit(search: Search, value: Json, { type, path }: Place): void {
  if (search.found.length >= MAXIMUM_FAULTS) return;
  const one = narrowed(type, value);
  const fault = (message: string): void => void search.found.push({ path, message });
  switch (chosen(one)) {
    case "map":
      if (value === null || one.map === undefined) return;
      if (!isObject(value)) return fault(`expected map, got ${wrapped(value)}`);
      return visitMap(search, value, { type: one.map, path });
    case "scalar":
      return scalarFault(value, one.scalar, fault);
    case "list":
      if (value === null || one.list === undefined) return;
      if (!isList(value)) return fault(`expected list, got ${wrapped(value)}`);
      return visitList(search, value, { type: one.list, path });
  }
}

function visitMap(search: Search, value: JsonObject, { type, path }: { type: MapType; path: string }): void {
  for (const [name, child] of Object.entries(value)) {
    const below = extended(path, `.${name}`);
    const known = type.field(name) ?? type.rest;
    if (known === undefined) return void search.found.push({ path: below, message: "field not declared in schema" });
    visit(search, child, { type: known, path: below });
  }
}

function visitList(search: Search, items: readonly Json[], { type, path }: { type: ListType; path: string }): void {
  if (type.relation === "atomic") {
    for (const [i, item] of items.entries()) visit(search, item, { type: type.item, path: extended(path, `[${i}]`) });
    return;
  }
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    const found = itemElement(item, type);
    if ("problem" in found) return void search.found.push({ path, message: `element ${i}: ${found.problem}` });
    const shown = printed(found.element);
    if (search.duplicates === "refused" && seen.has(found.element))
      search.found.push({ path, message: `duplicate entries for key ${shown}` });
    seen.add(found.element);
    visit(search, item, { type: type.item, path: extended(path, shown) });
  }
}

function scalarFault(value: Json, scalar: MergeType["scalar"], fault: (message: string) => void): void {
  if (value === null) return;
  const isScalar = typeof value !== "object";
  switch (scalar) {
    case "numeric":
      return typeof value === "number" ? undefined : fault(`expected numeric (int or float), got ${typeName(value)}`);
    case "string":
      if (typeof value === "string") return;
      return fault(`expected string, got &value.valueUnstructured{Value:${literal(value)}}`);
    case "boolean":
      return typeof value === "boolean" ? undefined : fault(`expected boolean, got ${wrapped(value)}`);
    default:
      return isScalar ? undefined : fault(`expected any scalar, got ${wrapped(value)}`);
  }
}

/** Go's %v of the value in its wrapper. */
function wrapped(value: Json): string {
  return `&{${goText(value)}}`;
}

/** Go's %T. */
function typeName(value: Json): string {
  if (isList(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Go's %#v. */
function literal(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (isList(value)) return `[]interface {}{${value.map(literal).join(", ")}}`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]interface {}{${entries.map(([name, child]) => `${JSON.stringify(name)}:${literal(child)}`).join(", ")}}`;
}
