/**
 * What of an answer is compared: the shape of a success, the words of a refusal, without what differs from run to run.
 */

const UUID = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?/g;

/** Keystone and Glance add the whole JSON schema to what it refuses. */
const SCHEMA = /(\\n|\s)+Failed validating .*?(?="\s*[,}]|<br)/gs;

/** A text with ids, instants and the words of this run replaced. */
export function settled(text: string, words: readonly (readonly [string, string])[]): string {
  let out = text;
  for (const [word, name] of words) if (word !== "") out = out.replaceAll(word, name);
  return out
    .replace(SCHEMA, "")
    .replace(/(?<=should be one of: )[A-Za-z_0-9, -]+/g, (list) => list.split(", ").sort().join(", "))
    .replace(/req-[0-9a-f-]{36}/g, "REQUEST")
    .replace(UUID, "ID")
    .replace(INSTANT, "INSTANT");
}

/** Every field as its type; a list as the shape that its elements share, empty or not. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(shapeOf).reduce(joined)];
  if (typeof value !== "object") return typeof value;
  const entries = Object.entries(value).map(
    ([key, of]) => [/^[0-9a-f-]{32,36}$/.test(key) ? "ID" : key, shapeOf(of)] as const,
  );
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What two elements of a list may be. */
function joined(a: unknown, b: unknown): unknown {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  if (isRecord(a) && isRecord(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    return Object.fromEntries(keys.map((key) => [key, key in a && key in b ? joined(a[key], b[key]) : "sometimes"]));
  }
  if (Array.isArray(a) && Array.isArray(b)) return a.length === 0 ? b : a;
  const kinds = new Set([a, b].flatMap((kind) => String(kind).split("|")));
  return kinds.has("sometimes") ? "sometimes" : [...kinds].sort().join("|");
}

/**
 * What was recorded, without the fields that are only sometimes there and are not now: caches of the real services
 * decide.
 */
export function withoutAbsent(recorded: unknown, now: unknown): unknown {
  if (Array.isArray(recorded) && Array.isArray(now)) return recorded.map((each, i) => withoutAbsent(each, now[i]));
  if (!isRecord(recorded) || !isRecord(now)) return recorded;
  const kept = Object.entries(recorded).filter(([key, value]) => value !== "sometimes" || key in now);
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutAbsent(value, now[key])]));
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What is at "a.0.b" in a body. */
export function at(body: unknown, path: string): unknown {
  let here = body;
  for (const field of path === "" ? [] : path.split(".")) {
    here = Array.isArray(here) ? (here as readonly unknown[])[Number(field)] : isRecord(here) ? here[field] : undefined;
  }
  return here;
}
