import type { KubeObject } from "@causeway/kubernetes";
import { builtinShape } from "../builtin-shapes.ts";
import type { Shape } from "../../schema/shape.ts";
import type { Json } from "../json.ts";
import { difference, EMPTY, isEmpty, sameSet, union } from "./field-set.ts";
import {
  capUpdaters,
  type Manager,
  managerKey,
  type Managers,
  ownable,
  readManagers,
  withManagers,
} from "./managers.ts";
import { compare } from "./values.ts";

export interface UpdateToTrack {
  /** The object as stored; absent on create. */
  readonly before?: KubeObject;
  /** The object about to be stored. */
  readonly after: KubeObject;
  readonly manager: string;
  readonly subresource?: string;
  /** Default: that of `after`. */
  readonly apiVersion?: string;
  /** From `compileSchema(…).shape`; the kind's own when it is a built-in one. */
  readonly schema?: Shape;
  /** RFC 3339 in seconds. */
  readonly time: string;
}

/**
 * Records a create, update or patch that is no apply: the manager owns what it changed from now on, and whoever owned it no longer does.
 * Returns `after` with its managedFields. A request that empties managedFields (`[]` or `[{}]`) ends the tracking of the object so far.
 */
export function trackUpdate(update: UpdateToTrack): KubeObject {
  const { before, after } = update;
  if (isReset(after)) return withManagers(after, new Map());
  const shape = update.schema ?? builtinShape(after);
  const given = readManagers(after.metadata.managedFields);
  const managers = given.size > 0 ? given : readManagers(before?.metadata.managedFields);
  const changes = compare((before ?? bare(after)) as unknown as Json, after as unknown as Json, shape);
  const changed = ownable(union(changes.added, changes.modified));
  const removed = ownable(changes.removed);
  const updater: Manager = {
    name: update.manager,
    operation: "Update",
    apiVersion: update.apiVersion ?? after.apiVersion,
    subresource: update.subresource ?? "",
    time: update.time,
    fields: changed,
  };
  return withManagers(after, capUpdaters(reassigned(managers, updater, union(changed, removed))));
}

function reassigned(managers: Managers, updater: Manager, lost: Manager["fields"]): Managers {
  const key = managerKey(updater);
  const result = new Map<string, Manager>();
  for (const [other, manager] of managers) result.set(other, { ...manager, fields: difference(manager.fields, lost) });
  const own = managers.get(key);
  const fields = union(result.get(key)?.fields ?? EMPTY, updater.fields);
  if (isEmpty(fields)) return result;
  const unchanged = own !== undefined && sameSet(own.fields, fields) && isEmpty(updater.fields);
  return result.set(key, { ...updater, time: unchanged ? own.time : updater.time, fields });
}

/** What every new object has before its maker says anything. */
function bare(object: KubeObject): Record<string, unknown> {
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: {} };
}

function isReset(object: KubeObject): boolean {
  const entries = object.metadata.managedFields;
  if (entries === undefined) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0);
}
