import type { KubeObject } from "@causeway/kubernetes";
import { builtinShape } from "../builtin-shapes.ts";
import type { Shape } from "../../schema/shape.ts";
import { isObject, type Json, jsonEqual, type JsonObject, own } from "../json.ts";
import { type ApplyConflict, conflictsOf } from "./conflicts.ts";
import { refuseDuplicates } from "./elements.ts";
import { difference, EMPTY, type FieldSet, fieldSet, intersection, isEmpty, LEAF, union } from "./field-set.ts";
import {
  allOwned,
  capUpdaters,
  type Manager,
  managerKey,
  type Managers,
  ownable,
  readManagers,
  sameManagers,
  withManagers,
} from "./managers.ts";
import { compare, fieldsOf, merge, removePaths } from "./values.ts";

export interface ApplyRequest {
  /** The object as stored; absent when it is to be made. */
  readonly live?: KubeObject;
  /** The applied configuration. */
  readonly applied: KubeObject;
  readonly manager: string;
  /** Take over what others own. */
  readonly force?: boolean;
  /** "status", "scale"; absent for the object itself. */
  readonly subresource?: string;
  /** Default: that of `applied`. */
  readonly apiVersion?: string;
  /** From `compileSchema(…).shape`; the kind's own when it is a built-in one. */
  readonly schema?: Shape;
  /** The kind has a status subresource, so status is written only there. Default true. */
  readonly statusSubresource?: boolean;
  /** RFC 3339 in seconds. */
  readonly now: string;
}

export interface ApplyResult {
  /** The object to store, with its managedFields; the very `live` when nothing is to change or there are conflicts. */
  readonly object: KubeObject;
  /** Why nothing was applied; always empty with `force`. */
  readonly conflicts: readonly ApplyConflict[];
}

/** Members of metadata that come from the request or the server, never from a configuration. */
const LIVE_METADATA = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "managedFields",
];

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Server-side apply (KEP-555): lays the configuration over the live object, takes away what this manager applied before and nobody owns now,
 * and records who owns what. Nulls in the configuration count as absent. Throws APPLY_INVALID for a list with an item twice or without keys.
 */
export function applyServerSide(request: ApplyRequest): ApplyResult {
  const shape = request.schema ?? builtinShape(request.applied);
  const applied = configurationOf(request);
  refuseDuplicates(applied, shape);
  const live = request.live === undefined ? undefined : (request.live as unknown as JsonObject);
  const before = request.live === undefined ? new Map() : managersOf(request.live, shape);
  const applier: Manager = {
    name: request.manager,
    operation: "Apply",
    apiVersion: request.apiVersion ?? request.applied.apiVersion,
    subresource: request.subresource ?? "",
    time: request.now,
    fields: fieldsOf(applied, shape),
  };
  const key = managerKey(applier);
  const lastFields = before.get(key)?.fields ?? EMPTY;
  const claimed = new Map(before).set(key, applier);
  const merged = merge(live, applied, shape);
  const result = removePaths(merged, abandoned(lastFields, allOwned(claimed), shape), shape) as JsonObject;
  return settle(request, { live, result, shape, before, claimed, key });
}

interface Outcome {
  readonly live: JsonObject | undefined;
  readonly result: JsonObject;
  readonly shape: Shape;
  readonly before: Managers;
  readonly claimed: Managers;
  readonly key: string;
}

/** Finds who is in the way, and takes from every other manager what changed under it. */
function settle(request: ApplyRequest, outcome: Outcome): ApplyResult {
  const { live, result, shape, before, claimed, key } = outcome;
  const object = result as unknown as KubeObject;
  const changes = compare(live, result, shape);
  const touched = ownable(union(changes.modified, changes.added));
  const others = [...before].filter(([other]) => other !== key).map(([, manager]) => manager);
  const contested = others.map((manager) => [manager, intersection(manager.fields, touched)] as const);
  const conflicts = conflictsOf(contested);
  if (conflicts.length > 0 && request.force !== true && !kubectlMayTake(request, contested, shape)) {
    return { object: request.live ?? object, conflicts };
  }
  const lost = union(touched, ownable(changes.removed));
  const after = new Map<string, Manager>();
  for (const [other, manager] of claimed) {
    const fields = other === key ? ownable(manager.fields) : difference(manager.fields, lost);
    after.set(other, { ...manager, fields });
  }
  const same = request.live !== undefined && jsonEqual(live, result);
  if (request.live !== undefined && same && sameManagers(readManagers(request.live.metadata.managedFields), after)) {
    return { object: request.live, conflicts: [] };
  }
  const unchanged = before.get(key);
  if (same && unchanged?.time !== undefined) keepTime(after, key, unchanged);
  return { object: withManagers(object, capUpdaters(after)), conflicts: [] };
}

function keepTime(managers: Map<string, Manager>, key: string, before: Manager): void {
  const manager = managers.get(key);
  if (manager !== undefined && isEmpty(difference(manager.fields, before.fields))) {
    managers.set(key, { ...manager, time: before.time });
  }
}

/**
 * What the manager applied before and nobody owns any more. A field of a schema is owned by whoever owns anything in it; an item of a list
 * or a key of a map only by whoever owns the item itself, so it goes with all that others have put into it.
 */
function abandoned(last: FieldSet, owned: FieldSet, shape: Shape): FieldSet {
  const children = [...last.children].map(([element, child]) => {
    const held = owned.children.get(element) ?? EMPTY;
    const whole = isDeclared(shape, element) ? isEmpty(held) : child.member && !held.member;
    return [element, whole ? LEAF : abandoned(child, held, partShape(shape, element))] as const;
  });
  return fieldSet(false, children);
}

function isDeclared(shape: Shape, element: string): boolean {
  return shape.kind === "struct" && element.startsWith("f:") && !shape.isKey(element.slice(2));
}

function partShape(shape: Shape, element: string): Shape {
  if (shape.kind === "struct") return shape.field(element.slice(2));
  return shape.kind === "map" ? shape.item : shape;
}

/** The configuration, without what this request cannot set. */
function configurationOf(request: ApplyRequest): JsonObject {
  const applied = withoutNulls(request.applied as unknown as Json) as JsonObject;
  const metadata = own(applied, "metadata");
  const given = Object.entries(isObject(metadata) ? metadata : {}).filter(([name]) =>
    request.subresource === "status" ? name === "name" || name === "namespace" : !LIVE_METADATA.includes(name),
  );
  const top = Object.entries(applied).filter(([name]) => inScope(name, request));
  return { ...Object.fromEntries(top), metadata: Object.fromEntries(given) };
}

function inScope(name: string, request: ApplyRequest): boolean {
  if (name === "apiVersion" || name === "kind") return true;
  if (request.subresource === "status") return name === "status";
  return name !== "status" || request.statusSubresource === false;
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, child]) => child !== null);
  return Object.fromEntries(kept.map(([name, child]) => [name, withoutNulls(child)]));
}

/** Objects that were never tracked belong, as they are, to an entry of their own. */
function managersOf(live: KubeObject, shape: Shape): Managers {
  const managers = readManagers(live.metadata.managedFields);
  if (managers.size > 0) return managers;
  const manager: Manager = {
    name: "before-first-apply",
    operation: "Update",
    apiVersion: live.apiVersion,
    subresource: "",
    time: live.metadata.creationTimestamp,
    fields: ownable(fieldsOf(live as unknown as Json, shape)),
  };
  return isEmpty(manager.fields) ? managers : new Map([[managerKey(manager), manager]]);
}

/** kubectl may take over, without force, what it applied itself in the client-side way: the annotation it left says so. */
function kubectlMayTake(
  request: ApplyRequest,
  contested: readonly (readonly [Manager, FieldSet])[],
  shape: Shape,
): boolean {
  const annotation = request.live?.metadata.annotations?.[LAST_APPLIED];
  if (request.manager !== "kubectl" || annotation === undefined) return false;
  try {
    const fields = fieldsOf(JSON.parse(annotation) as Json, shape);
    return contested.every(([, set]) => isEmpty(difference(set, fields)));
  } catch {
    // An annotation that nobody can read proves nothing.
    return false;
  }
}
