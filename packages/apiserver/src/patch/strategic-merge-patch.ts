import { CausewayError } from "@causeway/foundation";
import { text } from "../json/json.ts";
import { structOf } from "../wire/tables.ts";
import { goText, goType } from "../json/go-text.ts";
import type { BuiltInTypes } from "./built-in-types.ts";
import { isList, isObject, type Json } from "../json/values.ts";
import { mergeLists, orderedLists } from "./strategic-lists.ts";
import {
  bagOf,
  DIRECTIVE,
  directedName,
  DELETE_FROM,
  ELEMENT_ORDER,
  listShape,
  type Bag,
  type Shape,
  structShape,
} from "./strategic-shapes.ts";

const RETAIN_KEYS = "$retainKeys";

/** Objects that a patch replaces as a whole, though it merges all others. */
const REPLACED: ReadonlySet<string> = new Set(["policy.PodDisruptionBudgetSpec selector"]);

/**
 * What comes of a merge, and the patch as the merge leaves it: what it followed is gone from it. kube-apiserver's
 * refusals show it so.
 */
export interface StrategicMerge {
  readonly merged: unknown;
  readonly patch: unknown;
}

/**
 * Applies a strategic merge patch to an object of a built-in kind and returns the new one; the given one is not
 * changed. Objects merge, null deletes, and lists with a merge key merge item by item. Source: sig-api-machinery,
 * "Strategic Merge Patch". Throws PATCH_MALFORMED for a patch or a directive that cannot be read, PATCH_DIRECTIVE for
 * one that cannot be followed (kube-apiserver answers it with 500), and PATCH_FAILED for lists of lists.
 */
export function mergeStrategically(document: unknown, patch: unknown, types: BuiltInTypes): StrategicMerge {
  if (!isObject(patch)) {
    const message = "a strategic merge patch is an object";
    throw new CausewayError("PATCH_MALFORMED", message, { details: { index: -1 } });
  }
  const original = bagOf(isObject(document) ? document : {});
  const followed = bagOf(patch);
  const struct = structOf(text(original["apiVersion"]), text(original["kind"]));
  return { merged: mergeObject(original, followed, { types, struct }), patch: followed };
}

/** The same, for who wants the result alone. */
export function applyStrategicMergePatch(document: unknown, patch: unknown, types: BuiltInTypes): unknown {
  return mergeStrategically(document, patch, types).merged;
}

/** Merges in place: both may be changed. */
function mergeObject(original: Bag, patch: Bag, shape: Shape): Bag {
  if (Object.hasOwn(patch, DIRECTIVE)) return directed(patch);
  retain(original, patch);
  orderedLists(original, patch, { shape, mergeObject, fresh });
  for (const [given, value] of Object.entries(patch)) mergeField(original, { given, value, shape });
  return original;
}

function directed(patch: Bag): Bag {
  const directive = patch[DIRECTIVE];
  if (directive === "delete") return {};
  if (directive !== "replace") throw unknownDirective(directive, patch);
  delete patch[DIRECTIVE];
  return patch;
}

/** Keeps only the members that the patch names, when it names any. */
function retain(original: Bag, patch: Bag): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const kept = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  const isDirective = (name: string): boolean => name.startsWith(DELETE_FROM) || name.startsWith(ELEMENT_ORDER);
  const names = new Set<unknown>(Array.isArray(kept) ? (kept as unknown[]) : []);
  const isKept = (name: string): boolean => names.has(name);
  const isUnnamed = ([name, value]: [string, unknown]): boolean =>
    value !== null && !isDirective(name) && !isKept(name);
  if (!Array.isArray(kept) || Object.entries(patch).some(isUnnamed)) {
    throw new CausewayError("PATCH_MALFORMED", "invalid patch format of retainKeys", { details: { index: -1 } });
  }
  for (const name of Object.keys(original)) if (!isKept(name)) delete original[name];
}

function mergeField(original: Bag, { given, value, shape }: { given: string; value: unknown; shape: Shape }): void {
  const isDeletion = given.startsWith(DELETE_FROM);
  const name = isDeletion ? directedName(given, DELETE_FROM) : given;
  if (value === null) {
    delete original[name];
    return;
  }
  const before = original[name];
  const isBoth = Object.hasOwn(original, name) && goType(before as Json) === goType(value as Json);
  if (!isBoth) {
    if (!isDeletion) put(original, name, withoutNulls(value));
  } else if (isList(before)) {
    const list = listShape(shape, name);
    const merges = list.mergeKey !== undefined || isDeletion;
    put(
      original,
      name,
      merges ? mergeLists([before, value as Json[]], { ...list, isDeletion, mergeObject }) : (value as Json),
    );
  } else if (isObject(before)) {
    put(original, name, mergeMember(before, value as Bag, { name, shape }));
  } else put(original, name, fresh(value));
}

function mergeMember(before: Bag, value: Bag, { name, shape }: { name: string; shape: Shape }): Bag {
  const inner = structShape(shape, name);
  return REPLACED.has(`${shape.struct ?? ""} ${name}`) ? value : mergeObject(before, value, inner);
}

/** Sets a member; undefined takes it away. Right for "__proto__" too. */
function put(object: Bag, name: string, value: unknown): void {
  if (value === undefined) delete object[name];
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A value that is new as a whole, without its nulls; undefined for one that is a directive. */
function withoutNulls(value: unknown): unknown {
  discardNulls(value);
  return fresh(value);
}

function discardNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(discardNulls);
  if (!isObject(value)) return;
  for (const [name, child] of Object.entries(value)) {
    if (child === null) delete (value as Bag)[name];
    else discardNulls(child);
  }
}

/**
 * What is new is used as it is: objects that carry a directive have nothing to act on and are left out, wherever they
 * are.
 */
function fresh(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fresh).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  for (const [name, child] of Object.entries(value)) put(value as Bag, name, fresh(child));
  return value;
}

function unknownDirective(directive: unknown, patch: Bag): CausewayError {
  const message = `unknown patch type: ${goText(directive as Json)} in map: ${goText(patch as Json)}`;
  return new CausewayError("PATCH_DIRECTIVE", message, { hint: "Use replace or delete." });
}
