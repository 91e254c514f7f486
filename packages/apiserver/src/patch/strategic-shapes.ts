import { CausewayError, copyJson } from "@causeway/foundation";
import type { BuiltInTypes } from "./built-in-types.ts";

/** The member with which an object, or an item of a list, says that it is replaced or deleted instead of merged. */
export const DIRECTIVE = "$patch";
/** Before "/FIELD": the values to remove from a list of scalars. */
export const DELETE_FROM = "$deleteFromPrimitiveList";
/** Before "/FIELD": the order that a list's items have after the patch. */
export const ELEMENT_ORDER = "$setElementOrder";

/** A JSON object that a merge changes in place. */
export type Bag = Record<string, unknown>;

/** A copy that may be changed. */
export function bagOf(object: object): Bag {
  return copyJson(object) as Bag;
}

/** The struct that a value is; undefined for maps and for data without one. */
export interface Shape {
  readonly types: BuiltInTypes;
  readonly struct: string | undefined;
}

/**
 * What a list holds, and the key by which its items are found: "" for values, undefined for a list that is replaced.
 */
export interface ListShape {
  readonly items: Shape;
  readonly mergeKey: string | undefined;
}

/** The shape of a struct's field. */
export function structShape({ types, struct }: Shape, name: string): Shape {
  const type = fieldOf({ types, struct }, name)?.type;
  return { types, struct: type?.includes(".") ? type : undefined };
}

/** Throws PATCH_DIRECTIVE for a field that is not a list; kube-apiserver passes over those that point to a struct. */
export function listShape(shape: Shape, name: string): ListShape {
  const field = fieldOf(shape, name);
  if (shape.struct !== undefined && field?.shape !== "list" && !field?.type.includes(".")) {
    throw new CausewayError("PATCH_DIRECTIVE", "expected slice or array type, but got: struct");
  }
  const mark = shape.struct === undefined ? undefined : shape.types.marks(shape.struct).get(name);
  return { items: structShape(shape, name), mergeKey: mark?.mergeKey };
}

function fieldOf({ types, struct }: Shape, name: string): { type: string; shape: string } | undefined {
  if (struct === undefined) return undefined;
  const fields = types.fields(struct);
  const found = fields?.find((f) => f.name === name);
  if (found || !fields) return found;
  const [, type = struct] = struct.split(".");
  const message = `unable to find api field in struct ${type} for the json field ${JSON.stringify(name)}`;
  throw new CausewayError("PATCH_DIRECTIVE", message);
}

/** The list that a "$directive/NAME" is about. Throws PATCH_MALFORMED when it names none. */
export function directedName(given: string, directive: string): string {
  if (given.startsWith(`${directive}/`)) return given.slice(directive.length + 1);
  const what = directive === DELETE_FROM ? "primitive" : "setElementOrder";
  throw new CausewayError("PATCH_MALFORMED", `invalid patch format of ${what} list`, { details: { index: -1 } });
}
