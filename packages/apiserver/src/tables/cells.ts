import type { Column } from "../contract/resource.ts";
import { at, record, records, text } from "../json/json.ts";

/** A column whose cell is what is at a path, "" when nothing is. */
export function field(name: string, path: string, options: Partial<Column> = {}): Column {
  const steps = path.split(".");
  return { name, cell: (o) => shown(at(o, ...steps)), ...options };
}

function shown(value: unknown): unknown {
  return value === undefined || value === null ? "" : value;
}

/** "a=b,c=d" in order of the keys, "<none>" without any. */
export function labelsText(labels: unknown): string {
  const pairs = Object.entries(record(labels)).map(([key, value]) => `${key}=${text(value)}`);
  return pairs.sort().join(",") || "<none>";
}

/** At most three, and how many more. */
export function abridged(values: readonly string[], none = "<none>"): string {
  if (values.length === 0) return none;
  const more = values.length > 3 ? ` + ${values.length - 3} more...` : "";
  return `${values.slice(0, 3).join(",")}${more}`;
}

/** The column of kinds that kube-apiserver prints with their time of creation instead of their age. */
export const CREATED: Column = {
  name: "Created At",
  type: "date",
  cell: (o) => at(o, "metadata", "creationTimestamp"),
};

/** A number of an object as a cell shows it: 0 where the object does not have it. */
export const count = (value: unknown): number => (typeof value === "number" ? value : 0);

/** A column of integers from a dotted path, such as "status.replicas". */
export const number = (name: string, path: string): Column => {
  const steps = path.split(".");
  return { name, type: "integer", cell: (o) => count(at(o, ...steps)) };
};

/** One field of each container. */
export function named(list: unknown, name: string): string {
  return records(list)
    .map((c) => text(c[name]))
    .join(",");
}
