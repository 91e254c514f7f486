import { extended } from "../../bounds.ts";
import { isList, isObject, type Json, type JsonObject } from "../json.ts";
import type { ListType, MapType, MergeType } from "../../schema/merge-type.ts";
import { goText } from "../go-text.ts";
import { itemElement, printed } from "./elements.ts";
import { chosen, narrowed } from "./narrow.ts";

interface Fault {
  readonly path: string;
  readonly message: string;
  readonly duplicate?: true;
}

/**
 * Everything in an object that its type does not allow, in the words of structured-merge-diff; undefined when there is nothing. What is
 * stored may have items twice, an applied configuration may not.
 */
export function typeProblem(value: Json, type: MergeType, duplicates: "allowed" | "refused"): string | undefined {
  const faults = faultsOf(value, type, "")
    .filter((fault) => duplicates === "refused" || !fault.duplicate)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  if (faults.length < 2) return faults[0];
  return ["errors:", ...faults.map((fault) => `  ${fault}`)].join("\n");
}

function faultsOf(value: Json, type: MergeType, path: string): Fault[] {
  const one = narrowed(type, value);
  switch (chosen(one)) {
    case "map":
      if (value === null || one.map === undefined) return [];
      if (!isObject(value)) return [{ path, message: `expected map, got ${wrapped(value)}` }];
      return mapFaults(value, one.map, path);
    case "scalar":
      return scalarFaults(value, one.scalar, path);
    case "list":
      if (value === null || one.list === undefined) return [];
      if (!isList(value)) return [{ path, message: `expected list, got ${wrapped(value)}` }];
      return listFaults(value, one.list, path);
  }
}

function mapFaults(value: JsonObject, type: MapType, path: string): Fault[] {
  const faults: Fault[] = [];
  for (const [name, child] of Object.entries(value)) {
    const below = extended(path, `.${name}`);
    const known = type.field(name) ?? type.rest;
    if (known === undefined) return [...faults, { path: below, message: "field not declared in schema" }];
    faults.push(...faultsOf(child, known, below));
  }
  return faults;
}

function listFaults(items: readonly Json[], type: ListType, path: string): Fault[] {
  if (type.relation === "atomic")
    return items.flatMap((item, i) => faultsOf(item, type.item, extended(path, `[${i}]`)));
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const [i, item] of items.entries()) {
    const found = itemElement(item, type);
    if ("problem" in found) return [...faults, { path, message: `element ${i}: ${found.problem}` }];
    const shown = printed(found.element);
    if (seen.has(found.element)) faults.push({ path, message: `duplicate entries for key ${shown}`, duplicate: true });
    seen.add(found.element);
    faults.push(...faultsOf(item, type.item, extended(path, shown)));
  }
  return faults;
}

function scalarFaults(value: Json, scalar: MergeType["scalar"], path: string): Fault[] {
  if (value === null) return [];
  const isScalar = typeof value !== "object";
  switch (scalar) {
    case "numeric":
      return typeof value === "number"
        ? []
        : [{ path, message: `expected numeric (int or float), got ${typeName(value)}` }];
    case "string":
      return typeof value === "string"
        ? []
        : [{ path, message: `expected string, got &value.valueUnstructured{Value:${literal(value)}}` }];
    case "boolean":
      return typeof value === "boolean" ? [] : [{ path, message: `expected boolean, got ${wrapped(value)}` }];
    default:
      return isScalar ? [] : [{ path, message: `expected any scalar, got ${wrapped(value)}` }];
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
