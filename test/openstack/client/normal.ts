import { hostname } from "node:os";
import type { Command } from "./suite.ts";
import type { Answer } from "./process.ts";

/** What a command's answer says, without what differs from run to run. */
export interface ClientOutput {
  readonly code: number;
  readonly out: unknown;
  readonly err: string;
}

/** What is known while a script runs: its prefix, and the ids of what it named. */
export interface Known {
  readonly prefix: string;
  readonly names: ReadonlyMap<string, string>;
  /** Addresses that the script itself says. */
  readonly addresses: ReadonlySet<string>;
}

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?/g, "<time>"],
  [/\bfa:16:3e(:[0-9a-f]{2}){3}\b/g, "<mac>"],
  [/\breq-<id>/g, "<request>"],
  [
    /\bhttps?:\/\/(127\.0\.0\.1|localhost):\d+(\/(identity|compute|network|load-balancer|image|volume|key-manager|share|placement)(?=\/))?/g,
    "<url>",
  ],
  [/\bhost-[0-9a-f]+(-[0-9a-f]*){3,7}\b/g, "<host>"],
  [/\b[0-9a-f]{56}\b/g, "<host id>"],
  [/\b[0-9a-f]{32}\b/g, "<hex>"],
  [/\br-[0-9a-z]{8}\b/g, "<reservation>"],
  [/\b(devcloud|simulator|storage-1)\b/g, "<cloud>"],
  // Both clouds keep volumes and shares nowhere, and call that by names of their own.
  [/@(fake|simulated|dummy)(?=[-#]|$)/g, "@<backend>"],
  [/#(fake|pool|fake_pool_for_dummy)$/g, "#<pool>"],
  [/(?<=:)\/(path\/to\/fake\/share|shares)\/[\w<>{}-]+/g, "/<place>"],
  [/\r?Progress: ?\S*/g, ""],
  [/\b(enabled|disabled) (:-\)|XXX)/g, "$1"],
  // What else the project has.
  [/\b\d+G has been consumed/g, "<some> has been consumed"],
  // Numbers that a database counts up.
  [/\b(aggregates?[ /]|flavor |not found for )\d+\b/gi, "$1<number>"],
];

/** Keys whose values are of the moment, of the machine or random. */
const volatile =
  /^(Alive|adminPass|auth_key|updated_at|updated|Updated At|created|instance_name|standard_attr_id|provider:segmentation_id|OS-EXT-SRV-ATTR:instance_name)$/;

/** Whether a process has been heard of lately: not on a busy machine. */
const isAlive = /^(up|down)$/;

/** Quotas of a type of volumes that another user created. */
const ofType = /^(gigabytes|volumes|snapshots)_(?!_DEFAULT__$|fast$|attached$|\{p\})/;

/** Keys whose values are words in no order, by blanks or lines. */
const unordered = /^(tags|roles|listeners|pools|members|loadbalancers|rules|export_locations)$/;

export function outputOf(answer: Answer, known: Known, wanted: Command["rows"]): ClientOutput {
  const parsed = parse(answer.out);
  const rows = Array.isArray(parsed) ? parsed.filter((row) => isWanted(row, known, wanted)) : parsed;
  return { code: answer.code, out: value(rows, known), err: text(usage(answer.err), known).trim() };
}

function isWanted(row: unknown, known: Known, wanted: Command["rows"]): boolean {
  if (wanted === "all") return true;
  if (wanted === "own") return tellsOf(row, known);
  return isMap(row) && Object.values(row).some((field) => typeof field === "string" && wanted.includes(field));
}

const isMap = (raw: unknown): raw is Readonly<Record<string, unknown>> => typeof raw === "object" && raw !== null;

function parse(out: string): unknown {
  const start = out.search(/^[[{]/m);
  if (start < 0) return out.trim();
  try {
    return JSON.parse(out.slice(start)) as unknown;
  } catch {
    return out.trim();
  }
}

function tellsOf(row: unknown, { prefix, names }: Known): boolean {
  const rowText = JSON.stringify(row);
  return rowText.includes(prefix) || [...names.keys()].some((id) => rowText.includes(id));
}

/** Of argparse's usage only the last line: the rest is the client's own. */
const usage = (err: string) => (err.startsWith("usage:") ? (err.trim().split("\n").at(-1) ?? "") : err);

function value(raw: unknown, known: Known): unknown {
  // The host of a real cloud's controllers, and the simulated one's.
  if (raw === hostname() || raw === "controller") return "<controller>";
  if (typeof raw === "string") return text(raw, known);
  if (Array.isArray(raw)) return raw.map((item) => value(item, known)).sort(byText);
  if (!isMap(raw)) return raw;
  const use = "Name" in raw && typeof raw.Name === "string" && /^total.*Used$/.test(raw.Name);
  const varies = (key: string, item: unknown) =>
    item !== null &&
    (volatile.test(key) ||
      (key === "State" && isAlive.test(String(item as string))) ||
      (key === "id" && typeof item === "number") ||
      (use && key === "Value"));
  const ordered = (key: string, item: unknown) =>
    typeof item === "string" && unordered.test(key) ? text(item, known).split(/\s+/).sort().join("\n") : item;
  const own = Object.entries(raw).filter(([key]) => !ofType.test(text(key, known)));
  const entries = own.map(([key, item]) => [
    text(key, known),
    varies(key, item) ? "<varies>" : value(ordered(key, item), known),
  ]);
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))) as unknown;
}

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

function text(raw: string, { prefix, names, addresses }: Known): string {
  let out = raw.replaceAll(prefix, "{p}").replaceAll(prefix.toUpperCase(), "{P}");
  out = out.replace(uuid, (id) => (names.has(id) ? `<${names.get(id)}>` : "<id>"));
  for (const [pattern, word] of replacements) out = out.replace(pattern, word);
  return out
    .replace(/(?<=Error for url: \S+, ).+/g, inAnyOrder)
    .replace(/(?<=one of: )\w+(, \w+)+/g, (list) => list.split(", ").sort().join(", "))
    .replace(/<[^<>]+>(,<[^<>]+>)+/g, (list) => list.split(",").sort().join())
    .replace(/\b\d{1,3}(\.\d{1,3}){3}\b/g, (ip) => (addresses.has(ip) ? ip : "<address>"))
    .replace(/(?<![\w:])(fd|fe80|2001)[0-9a-f]*:[0-9a-f:]+(?![\w:])/g, (ip) => (addresses.has(ip) ? ip : "<address>"));
}

/**
 * The client prints the lines of an HTML response as a set, joined by colons: their order changes from process to
 * process.
 */
const inAnyOrder = (lines: string) => lines.split(": ").sort().join(": ");

/** Addresses in a script's words. */
export const addressesIn = (lines: string): ReadonlySet<string> =>
  new Set([...lines.matchAll(/\d{1,3}(\.\d{1,3}){3}|(?:fd|fe80|2001)[0-9a-f]*:[0-9a-f:]+/g)].map(([ip]) => ip));
