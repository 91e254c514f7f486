import type { KubeObject } from "@causeway/kubernetes";
import type { Json } from "../json/json.ts";
import type { Position } from "../registry/reader.ts";
import { writeYaml } from "./write-yaml.ts";

/** The parts of a serialized list: a head, its items, a tail. */
export interface ListForm {
  readonly type: string;
  head(position: Position | undefined): string;
  /** `isFirst`: no item came before. */
  items(texts: readonly string[], isFirst: boolean): string;
  /** One item as `items` takes it. */
  text(item: unknown): string;
  /** `isLate`: the head did not have the list's metadata. */
  tail(position: Position, about: { readonly isLate: boolean; readonly isEmpty: boolean }): string;
}

/** What is around the items: the kind, and columns of a table. `key` is the field of the items. */
export interface Envelope {
  readonly fields: Json;
  readonly key: "items" | "rows";
  /** What an item of the list shows of an object. */
  readonly shown: (object: KubeObject) => unknown;
}

/** A list as compact JSON. */
export function jsonForm({ fields, key }: Envelope): ListForm {
  const open = JSON.stringify(fields).slice(0, -1);
  return {
    type: "application/json",
    head: (position) => `${open}${position ? `,"metadata":${JSON.stringify(position)}` : ""},"${key}":[`,
    items: (texts, isFirst) => `${isFirst ? "" : ","}${texts.join(",")}`,
    text: (item) => JSON.stringify(item),
    tail: (position, { isLate }) => `]${isLate ? `,"metadata":${JSON.stringify(position)}` : ""}}\n`,
  };
}

/** On many lines, for people. */
export function prettyForm({ fields, key }: Envelope): ListForm {
  const indented = (value: unknown, by: string): string => JSON.stringify(value, null, 2).replaceAll("\n", `\n${by}`);
  const open = indented(fields, "").slice(0, -2);
  const metadata = (position: Position): string => `"metadata": ${indented(position, "  ")}`;
  return {
    type: "application/json",
    head: (position) => `${open},\n${position ? `  ${metadata(position)},\n` : ""}  "${key}": [`,
    items: (texts, isFirst) => texts.map((text, i) => `${isFirst && i === 0 ? "" : ","}\n    ${text}`).join(""),
    text: (item) => indented(item, "    "),
    tail: (position, { isLate, isEmpty }) =>
      `${isEmpty ? "]" : "\n  ]"}${isLate ? `,\n  ${metadata(position)}` : ""}\n}`,
  };
}

/** Keys in order, as everywhere in YAML. */
export function yamlForm({ fields, key }: Envelope): ListForm {
  const written = (all: Json, isWanted: (name: string) => boolean): string => {
    const named = Object.entries(all).filter(([name]) => isWanted(name));
    return named.length > 0 ? writeYaml(Object.fromEntries(named)) : "";
  };
  return {
    type: "application/yaml",
    head: (position) => written({ ...fields, ...(position ? { metadata: position } : {}) }, (name) => name < key),
    items: (texts, isFirst) => `${isFirst ? `${key}:\n` : ""}${texts.join("")}`,
    text: (item) => writeYaml([item]),
    tail: (position, { isLate, isEmpty }) => {
      const after = (name: string): boolean => name > key || (isLate && name === "metadata");
      return `${isEmpty ? `${key}: []\n` : ""}${written({ ...fields, metadata: position }, after)}`;
    },
  };
}
