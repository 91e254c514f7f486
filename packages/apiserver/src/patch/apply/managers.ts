import type { KubeObject, ManagedFieldsEntry } from "@causeway/kubernetes";
import {
  difference,
  EMPTY,
  type FieldSet,
  fieldSet,
  fromFieldsV1,
  isEmpty,
  LEAF,
  toFieldsV1,
  unionOf,
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

/** By the key that makes two entries the same manager (`managerKey`). */
export type Managers = ReadonlyMap<string, Manager>;

/** As many writers by update as an object remembers by name; older ones share one entry. */
const MAXIMUM_UPDATERS = 10;
const ANCIENT = "ancient-changes";

/** What makes two entries the same manager: an applier is one whatever version it applies. */
export function managerKey(manager: Pick<Manager, "name" | "operation" | "apiVersion" | "subresource">): string {
  const version = manager.operation === "Apply" ? "" : manager.apiVersion;
  return JSON.stringify([manager.operation, manager.name, manager.subresource, version]);
}

/** The managers of these entries; undefined when one of them cannot be read. */
export function readManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers | undefined {
  const managers = new Map<string, Manager>();
  for (const entry of entries ?? []) {
    const { operation, apiVersion = "" } = entry;
    if ((operation !== "Apply" && operation !== "Update") || apiVersion === "") return undefined;
    if (entry.fieldsType !== "FieldsV1") return undefined;
    const manager: Manager = {
      name: entry.manager ?? "",
      operation,
      apiVersion,
      subresource: entry.subresource ?? "",
      time: entry.time,
      fields: fromFieldsV1(entry.fieldsV1),
    };
    managers.set(managerKey(manager), manager);
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

/** Merges the oldest updaters of one version until few enough are left by name. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers]
    .filter(([, m]) => m.operation === "Update")
    .toSorted(
      ([a, x], [b, y]) => (x.time ?? "").localeCompare(y.time ?? "") || (sortKey(x) < sortKey(y) ? -1 : a < b ? -1 : 1),
    );
  let surplus = updaters.length - MAXIMUM_UPDATERS;
  const result = new Map(managers);
  const first = new Map<string, string>();
  const ancient = new Map<string, { readonly bucket: Manager; readonly fields: FieldSet[] }>();
  for (const [key, manager] of updaters) {
    if (surplus <= 0) break;
    const oldest = first.get(manager.apiVersion);
    if (oldest === undefined) {
      first.set(manager.apiVersion, key);
      continue;
    }
    const bucket = { ...manager, name: ANCIENT, subresource: "" };
    const name = managerKey(bucket);
    const known = result.get(name) ?? result.get(oldest);
    const fields = ancient.get(name)?.fields ?? [known?.fields ?? EMPTY];
    fields.push(manager.fields);
    ancient.set(name, { bucket, fields });
    result.delete(oldest);
    result.delete(key);
    result.set(name, bucket);
    surplus -= 1;
  }
  for (const [name, { bucket, fields }] of ancient) result.set(name, { ...bucket, fields: unionOf(fields) });
  return result;
}

/** What messages and the oldest updaters are ordered by. */
export function sortKey({ name, operation, apiVersion, subresource }: Manager): string {
  const entry = {
    ...(name === "" ? {} : { manager: name }),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource }),
  };
  return JSON.stringify(entry);
}

/** Fields that only the server sets, which have no owner. */
const SERVER_FIELDS: FieldSet = fieldSet(false, [
  ["f:apiVersion", LEAF],
  ["f:kind", LEAF],
  [
    "f:metadata",
    fieldSet(
      true,
      [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
      ].map((name) => [`f:${name}`, LEAF] as const),
    ),
  ],
]);

/** The fields of a set that a manager can own. The object itself has no owner. */
export function ownable(fields: FieldSet): FieldSet {
  return { ...difference(fields, SERVER_FIELDS), member: false };
}

/** The object with these managers recorded. */
export function withManagers<T extends KubeObject>(object: T, managers: Managers): T {
  const entries = writeManagers(managers);
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries } };
}
