import { getOption, hasOption, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { csi_secret } from "./protocol.generated.ts";

/** How much of one message is logged: texts, lists and nesting are cut. */
const LONGEST_TEXT = 256;
const MOST_ENTRIES = 32;
const DEEPEST = 8;

/** A message for a log line, without the fields that the specification marks as secrets. */
export function sanitized(schema: DescMessage, message: Message, depth = 0): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const fields = message as unknown as Readonly<Record<string, unknown>>;
  for (const field of schema.fields) {
    const value = valueOf(fields, field);
    if (value === undefined || isEmpty(value)) continue;
    if (isSecret(field)) out[field.name] = "[redacted]";
    else out[field.name] = depth >= DEEPEST ? "…" : shown(field, value, depth + 1);
  }
  return out;
}

function isSecret(field: DescField): boolean {
  return hasOption(field, csi_secret) && getOption(field, csi_secret);
}

function valueOf(fields: Readonly<Record<string, unknown>>, field: DescField): unknown {
  if (field.oneof === undefined) return fields[field.localName];
  const chosen = fields[field.oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined;
  return chosen?.case === field.localName ? chosen.value : undefined;
}

function isEmpty(value: unknown): boolean {
  if (value === "" || value === 0 || value === 0n || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && !("$typeName" in value) && Object.keys(value).length === 0;
}

function shown(field: DescField, value: unknown, depth: number): unknown {
  if (field.fieldKind === "list" && Array.isArray(value)) {
    return value.slice(0, MOST_ENTRIES).map((entry: unknown) => one(field.message, entry, depth));
  }
  if (field.fieldKind === "map" && typeof value === "object" && value !== null) {
    const entries = Object.entries(value).slice(0, MOST_ENTRIES);
    return Object.fromEntries(entries.map(([key, entry]) => [cut(key), one(field.message, entry, depth)]));
  }
  return one(field.message, value, depth);
}

function one(schema: DescMessage | undefined, value: unknown, depth: number): unknown {
  if (schema !== undefined && typeof value === "object" && value !== null) {
    return sanitized(schema, value as Message, depth);
  }
  if (typeof value === "bigint") return value.toString();
  return typeof value === "string" ? cut(value) : value;
}

const cut = (text: string) => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text);
