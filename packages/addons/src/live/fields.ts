import type { KubeObject, ManagedFieldsEntry } from "@causeway/kubernetes";
import { canonicalJson, isRecord } from "@causeway/foundation";

/** A field of an object: names, and "[NAME]" for the entry of a list whose name is NAME. */
export type Path = readonly string[];

/** "spec.template.spec.containers[coredns].resources" in its parts. */
export function parsePath(text: string): Path {
  return text.split(/[.]|(?=\[)/).filter((part) => part !== "");
}

/** The opposite of `parsePath`. */
export function pathText(path: Path): string {
  return path.reduce((text, part) => (part.startsWith("[") || text === "" ? text + part : `${text}.${part}`), "");
}

function inner(value: unknown, part: string): unknown {
  if (part.startsWith("[")) {
    const name = part.slice(1, -1);
    return Array.isArray(value) ? value.find((item) => isRecord(item) && item["name"] === name) : undefined;
  }
  return isRecord(value) ? value[part] : undefined;
}

/** The value of a field; undefined where the object does not have it. */
export function valueAt(object: unknown, path: Path): unknown {
  return path.reduce(inner, object);
}

/** A copy without the field. */
export function without<T>(object: T, path: Path): T {
  const [part, ...rest] = path;
  if (part === undefined) return object;
  const value = inner(object, part);
  if (value === undefined) return object;
  if (Array.isArray(object)) {
    const changed = rest.length === 0 ? [] : [without(value, rest)];
    return object.flatMap((item: unknown) => (item === value ? changed : [item])) as T;
  }
  const copy: Record<string, unknown> = { ...(object as Record<string, unknown>) };
  if (rest.length === 0) delete copy[part];
  else copy[part] = without(value, rest);
  return copy as T;
}

/** The managers that own the field, or the nearest field around it that has an owner. */
export function managersOf(object: KubeObject, path: Path): string[] {
  const depths = (object.metadata.managedFields ?? []).flatMap((entry) => {
    const depth = ownedDepth(entry, path);
    return depth === 0 ? [] : [{ manager: entry.manager ?? "unknown", depth }];
  });
  const deepest = Math.max(0, ...depths.map(({ depth }) => depth));
  return [...new Set(depths.filter(({ depth }) => depth === deepest).map(({ manager }) => manager))];
}

/** Parts of the path that the entry owns; a list entry is found by its key. */
function ownedDepth({ fieldsV1 }: ManagedFieldsEntry, path: Path): number {
  let fields: unknown = fieldsV1;
  for (const [depth, part] of path.entries()) {
    if (!isRecord(fields)) return depth;
    const key = part.startsWith("[") ? listKey(fields, part.slice(1, -1)) : `f:${part}`;
    const next = key === undefined ? undefined : fields[key];
    if (next === undefined) return Object.keys(fields).some((name) => name !== ".") ? 0 : depth;
    fields = next;
  }
  return path.length;
}

function listKey(fields: Record<string, unknown>, name: string): string | undefined {
  return Object.keys(fields).find((key) => key.startsWith("k:") && key.includes(`"name":${JSON.stringify(name)}`));
}

/** A field in which two objects differ; `from` or `to` is undefined where one of them lacks it. */
export interface FieldChange {
  readonly path: Path;
  readonly from: unknown;
  readonly to: unknown;
}

/** Fields of an object that only a server writes. */
const servers = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"];

/** Fields in which two states of one object differ, its status excluded; at most `most`. */
export function changesBetween(before: object, after: object, most = 8): FieldChange[] {
  const found: FieldChange[] = [];
  const compare = (a: unknown, b: unknown, path: Path): void => {
    if (found.length >= most || canonicalJson(a ?? null) === canonicalJson(b ?? null)) return;
    const keys = isRecord(a) && isRecord(b) ? new Set([...Object.keys(a), ...Object.keys(b)]) : undefined;
    if (keys && isRecord(a) && isRecord(b)) for (const key of keys) compare(a[key], b[key], [...path, key]);
    else if (isNamedList(a) && isNamedList(b)) {
      const names = new Set([...a, ...b].map(({ name }) => name));
      for (const name of names) {
        const part = `[${name}]`;
        compare(inner(a, part), inner(b, part), [...path, part]);
      }
      if (found.length === 0) found.push({ path, from: a, to: b });
    } else found.push({ path, from: a, to: b });
  };
  compare(comparable(before), comparable(after), []);
  return found;
}

function comparable(object: object): Record<string, unknown> {
  const { status: _status, metadata, ...rest } = object as Record<string, unknown>;
  const kept = Object.entries((metadata ?? {}) as object).filter(([key]) => !servers.includes(key));
  return { ...rest, metadata: Object.fromEntries(kept) as unknown };
}

function isNamedList(value: unknown): value is { name: string }[] {
  return Array.isArray(value) && value.every((item) => isRecord(item) && typeof item["name"] === "string");
}
