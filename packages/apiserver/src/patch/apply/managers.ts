import type { KubeObject, ManagedFieldsEntry } from "@causeway/kubernetes";
import {
  EMPTY,
  type FieldSet,
  fieldSet,
  fromFieldsV1,
  isEmpty,
  LEAF,
  toFieldsV1,
  union,
  without,
} from "./field-set.ts";

/** One entry of metadata.managedFields. */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

export type Managers = ReadonlyMap<string, Manager>;

/** As many writers by update as an object remembers by name; older ones share one entry. */
const MAXIMUM_UPDATERS = 10;
const ANCIENT = "ancient-changes";

/** What makes two entries the same manager: an applier is one whatever version it applies. */
export function managerKey(manager: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">): string {
  const version = manager.operation === "Apply" ? "" : manager.apiVersion;
  return JSON.stringify([manager.operation, manager.name, manager.subresource, version]);
}

export function readManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  const managers = new Map<string, Manager>();
  for (const entry of entries ?? []) {
    const manager: Manager = {
      name: entry.manager ?? "",
      operation: entry.operation === "Apply" ? "Apply" : "Update",
      apiVersion: entry.apiVersion ?? "",
      subresource: entry.subresource ?? "",
      time: entry.time,
      fields: fromFieldsV1(entry.fieldsV1),
    };
    const known = managers.get(managerKey(manager));
    managers.set(
      managerKey(manager),
      known === undefined ? manager : { ...manager, fields: union(known.fields, manager.fields) },
    );
  }
  return managers;
}

/** The entries in Kubernetes' order: appliers first, then by time and name. Managers that own nothing are gone. */
export function writeManagers(managers: Managers): ManagedFieldsEntry[] {
  const living = [...managers.values()].filter((manager) => !isEmpty(manager.fields));
  return living.toSorted(byOperationTimeName).map((manager) => ({
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(manager.time === undefined ? {} : { time: manager.time }),
    fieldsType: "FieldsV1",
    fieldsV1: toFieldsV1(manager.fields) as Record<string, unknown>,
    ...(manager.subresource === "" ? {} : { subresource: manager.subresource }),
  }));
}

function byOperationTimeName(a: Manager, b: Manager): number {
  const left = [a.operation, a.time ?? "", a.name, a.apiVersion, a.subresource];
  const right = [b.operation, b.time ?? "", b.name, b.apiVersion, b.subresource];
  const i = left.findIndex((value, at) => value !== right[at]);
  return i < 0 ? 0 : (left[i] ?? "") < (right[i] ?? "") ? -1 : 1;
}

/** Lays the oldest updaters together until few enough are left by name. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers]
    .filter(([, m]) => m.operation === "Update")
    .toSorted(([, a], [, b]) => byOperationTimeName(a, b));
  const named = updaters.filter(([, m]) => m.name !== ANCIENT);
  const surplus = named.slice(0, Math.max(0, named.length - MAXIMUM_UPDATERS));
  if (surplus.length === 0) return managers;
  const result = new Map(managers);
  for (const [key, manager] of surplus) {
    result.delete(key);
    const bucket = { ...manager, name: ANCIENT, subresource: "" };
    const known = result.get(managerKey(bucket));
    result.set(managerKey(bucket), { ...bucket, fields: union(known?.fields ?? EMPTY, manager.fields) });
  }
  return result;
}

/** The union of what all managers own. */
export function allOwned(managers: Managers): FieldSet {
  return [...managers.values()].reduce((set, manager) => union(set, manager.fields), EMPTY);
}

/** Fields that the server keeps for itself, which nobody owns. */
const SERVER_FIELDS: FieldSet = fieldSet(false, [
  ["f:apiVersion", LEAF],
  ["f:kind", LEAF],
  [
    "f:metadata",
    fieldSet(
      false,
      [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "generation",
        "managedFields",
        "resourceVersion",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
      ].map((name) => [`f:${name}`, LEAF] as const),
    ),
  ],
]);

/** What of a set a manager can own. The objects at the top are there for everybody. */
export function ownable(fields: FieldSet): FieldSet {
  const rest = without(fields, SERVER_FIELDS);
  const metadata = rest.children.get("f:metadata");
  if (metadata === undefined || !metadata.member) return { ...rest, member: false };
  return fieldSet(false, [...rest.children, ["f:metadata", { ...metadata, member: false }]]);
}

/** The object with these managers recorded. */
export function withManagers<T extends KubeObject>(object: T, managers: Managers): T {
  const entries = writeManagers(managers);
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries } };
}

export function sameManagers(a: Managers, b: Managers): boolean {
  const untimed = (managers: Managers): string =>
    JSON.stringify(writeManagers(new Map([...managers].map(([key, m]) => [key, { ...m, time: undefined }]))));
  return untimed(a) === untimed(b);
}
