import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Json } from "../../json/values.ts";
import { difference, EMPTY, isEmpty, union } from "./field-set.ts";
import {
  capUpdaters,
  type Manager,
  managerKey,
  type Managers,
  ownable,
  readManagers,
  withManagers,
} from "./managers.ts";
import { typeProblem } from "./check.ts";
import { settle, type Typed } from "./ownership.ts";

/** A create, update or patch, for the managedFields that it leads to. */
export interface UpdateToTrack {
  /** The object as stored; absent on create. */
  readonly before?: KubeObject;
  /** What a new object has before its maker says anything. */
  readonly initial?: KubeObject | undefined;
  /** The object as the writer wants it. */
  readonly after: KubeObject;
  readonly manager: string;
  readonly subresource?: string;
  readonly typed: Typed;
  /** RFC 3339 in seconds. */
  readonly time?: string;
  /**
   * managedFields of no entries end the tracking of the object, as one empty entry does. For custom resources
   * an empty list is not the same as none.
   */
  readonly resetByNone?: boolean;
  /**
   * The object may not be of its type in all places: schemas of custom resources let through what has no owner by its
   * parts.
   */
  readonly mayStray?: boolean;
}

const NO_MANAGERS: Managers = new Map();

/**
 * Records a create, update or patch that is no apply: the manager becomes the only owner of the fields that it changed.
 * Returns `after` with its managedFields. A request that empties managedFields (`[{}]`, and for some `[]`) ends the
 * tracking of the object.
 */
export function trackUpdate(update: UpdateToTrack): KubeObject {
  const { before, after, typed } = update;
  const managers = managersBefore(update);
  if (before !== undefined && managers.size === 0) return withManagers(after, NO_MANAGERS);
  const manager: Manager = {
    name: update.manager,
    operation: "Update",
    apiVersion: typed.apiVersion,
    subresource: update.subresource ?? "",
    time: update.time,
    fields: EMPTY,
  };
  const change = { before: bare(before ?? update.initial), after: bare(after), typed };
  // The fields of an object that does not match its type cannot be compared: its tracking ends.
  if (update.mayStray === true && [change.after, change.before].some((o) => typeProblem(o, typed.type, "allowed")))
    return withManagers(after, NO_MANAGERS);
  try {
    return withManagers(after, changedBy(manager, managers, change));
  } catch (error) {
    // An item without any of the keys that its list has.
    if (hasCode(error, "APPLY_INVALID")) return withManagers(after, NO_MANAGERS);
    throw error;
  }
}

interface TypedChange {
  readonly before: Json;
  readonly after: Json;
  readonly typed: Typed;
}

/** The managers after one of them has updated the object. */
export function changedBy(manager: Manager, managers: Managers, { before, after, typed }: TypedChange): Managers {
  const { others, comparison } = settle(managers, "", { before, after }, typed);
  const { added, modified, removed } = comparison;
  const own = ownable(union(difference(EMPTY, removed), union(modified, added)));
  if (isEmpty(own)) return capUpdaters(others);
  const key = managerKey(manager);
  const fields = union(own, others.get(key)?.fields ?? EMPTY);
  return capUpdaters(new Map(others).set(key, { ...manager, fields }));
}

/** Those that the request names, if it does; the object's own otherwise. Writers of subresources cannot name any. */
function managersBefore({ before, after, subresource = "", resetByNone = true }: UpdateToTrack): Managers {
  const live = readManagers(before?.metadata.managedFields) ?? NO_MANAGERS;
  if (subresource !== "") return live;
  if (isReset(after, resetByNone)) return NO_MANAGERS;
  const given = readManagers(after.metadata.managedFields);
  return given === undefined || given.size === 0 ? live : given;
}

/** The object as others compare it: who owns what is no part of it. A new one starts from nothing. */
export function bare(object: KubeObject | undefined): Json {
  if (object === undefined) return {};
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata } as unknown as Json;
}

function isReset(object: KubeObject, byNone: boolean): boolean {
  const entries = object.metadata.managedFields;
  if (!Array.isArray(entries)) return false;
  return (byNone && entries.length === 0) || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0);
}
