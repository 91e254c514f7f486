import type { Json } from "../interface.ts";

/** Replaces what a server chose (uids, times, names) by what is the same on both servers. */
type Normalize = (value: unknown) => unknown;

/**
 * A refusal with its causes in no particular order, each once, and the summary by them alone: Go goes through maps in
 * no order, and the rules of a kind may run twice.
 */
export function ordered(body: unknown, normalize: Normalize): unknown {
  const details = (body as Json | null)?.["details"] as Json | undefined;
  const causes = details?.["causes"];
  if (!Array.isArray(causes)) return unordered(body);
  // Which manager's conflicts come first is left to chance, as Go's maps are; the message has them in order.
  if ((body as Json)["reason"] === "Conflict")
    return { ...(body as Json), details: { ...details, causes: inTextOrder(causes) } };
  if ((body as Json)["reason"] !== "Invalid") return body;
  const texts = [...new Set((causes as Json[]).map((cause) => JSON.stringify(shown(cause, normalize))))].toSorted();
  const [message = ""] = String((body as Json)["message"]).split(": ");
  return {
    ...(body as Json),
    message,
    details: { ...details, causes: texts.map((cause) => JSON.parse(cause) as Json) },
  };
}

function inTextOrder(causes: readonly unknown[]): unknown[] {
  return causes
    .map((cause) => JSON.stringify(cause))
    .toSorted()
    .map((cause): unknown => JSON.parse(cause));
}

/** The order of the faults of a map's members is the random order of Go's maps. */
function unordered(body: unknown): unknown {
  const message = (body as Json | null)?.["message"];
  if (typeof message !== "string" || !message.includes(": errors:\n  ")) return body;
  const [head = "", ...lines] = message.split("\n  ");
  return { ...(body as Json), message: [head, ...lines.toSorted()].join("\n  ") };
}

/**
 * Values of immutable fields, and their differences, are printed as Go prints structs: only the sentence is
 * compared.
 */
function shown(cause: Json, normalize: Normalize): Json {
  const [first = ""] = String(cause["message"]).split("\n");
  const message = first.endsWith(": field is immutable") ? "field is immutable" : withObject(first, normalize);
  return { ...cause, message: withoutPort(message, cause["field"]) };
}

/** An object in a message is normalized as other objects are, so that the order of its members does not count. */
function withObject(message: string, normalize: Normalize): string {
  const [, before = "", object, after = ""] = /^(Invalid value: )("\{.*\}")(: .*)$/.exec(message) ?? [];
  if (object === undefined) return message;
  try {
    const parsed = JSON.parse(JSON.parse(object) as string) as unknown;
    return `${before}${JSON.stringify(normalize(parsed))}${after}`;
  } catch {
    return message;
  }
}

/** Ports that a server chose itself. */
function withoutPort(message: string, field: unknown): string {
  return /nodePort$/i.test(String(field)) ? message.replace(/: 3[0-2]\d{3}(?=$|:)/, ": <port>") : message;
}
