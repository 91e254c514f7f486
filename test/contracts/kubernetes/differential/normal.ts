import type { Answer, Json } from "../interface.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Times of now; the generators' own are of 2001. */
const TIME = /20(2[5-9]|[3-9]\d)-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)/g;

/** What differs between two servers that answer alike is told by ordinals: uids, revisions, times, names and addresses that a server chose. */
export class Normal {
  readonly #uids = new Map<string, string>();
  readonly #revisions = new Map<string, string>();
  readonly #names = new Map<string, string>();

  generated(name: string): void {
    if (!this.#names.has(name)) this.#names.set(name, `${name.slice(0, -5)}<generated ${this.#names.size}>`);
  }

  /** A revision that is told as another one is. */
  alias(revision: string, shown: string): void {
    this.#revisions.set(revision, shown);
  }

  answer({ code, body, headers, text }: Answer): unknown {
    const warnings = headers["warning"];
    const shown = Object.keys(body).length === 0 && text !== "" ? text : this.value(body);
    return {
      code,
      ...(warnings === undefined ? {} : { warnings: this.value([warnings].flat()) }),
      body: ordered(shown),
    };
  }

  value(value: unknown): unknown {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]): [string, unknown] => [key, this.#field(key, child, value as Json)]);
    return Object.fromEntries(entries);
  }

  #field(key: string, child: unknown, parent: Json): unknown {
    if (key === "resourceVersion" && typeof child === "string") return this.#revision(child, parent);
    if (key === "continue" && typeof child === "string") return child === "" ? "" : "<continue>";
    if (key === "managedFields" && Array.isArray(child)) return (this.value(child) as Json[]).toSorted(byManager);
    if ((key === "clusterIP" || key === "clusterIPs") && child !== "None")
      return JSON.stringify(child).replaceAll(/10\.\d+\.\d+\.\d+/g, "<address>");
    if ((key === "nodePort" || key === "healthCheckNodePort") && typeof child === "number" && child >= 30_000)
      return "<port>";
    return this.value(child);
  }

  /** Lists tell a revision that others' writes raise; objects one of their own. */
  #revision(revision: string, parent: Json): string {
    if (parent["uid"] === undefined && parent["name"] === undefined) return "<revision>";
    if (!/^\d+$/.test(revision)) return revision;
    const known = this.#revisions.get(revision) ?? `<revision ${this.#revisions.size}>`;
    this.#revisions.set(revision, known);
    return known;
  }

  #text(text: string): string {
    const told = text
      // Types with names of their own are told by what they are here.
      .replace(/(json: cannot unmarshal .* of type )v1\.[A-Z]\w+$/, "$1string")
      .replace(/^kube-api-access-\w{5}$/, "kube-api-access-<generated>")
      .replaceAll(TIME, "<time>")
      .replaceAll(UUID, (uid) => {
        const known = this.#uids.get(uid) ?? `<uid ${this.#uids.size}>`;
        this.#uids.set(uid, known);
        return known;
      });
    const named = [...this.#names].reduce((whole, [name, shown]) => whole.replaceAll(name, shown), told);
    if (!/[Rr]esource ?[Vv]ersion/.test(named)) return named;
    return named.replaceAll(/\d+/g, (number) => this.#revisions.get(number) ?? number);
  }
}

function byManager(a: Json, b: Json): number {
  const [left, right] = [a, b].map((m) =>
    JSON.stringify([m["operation"], m["manager"], m["subresource"], m["apiVersion"]]),
  );
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

/** Causes in no particular order, each once, and the summary by them alone: how often a rule runs is not compared. */
function ordered(body: unknown): unknown {
  const details = (body as Json | null)?.["details"] as Json | undefined;
  const causes = details?.["causes"];
  if (!Array.isArray(causes)) return unordered(body);
  // Which manager's conflicts come first is left to chance, as Go's maps are; the message has them in order.
  if ((body as Json)["reason"] === "Conflict")
    return { ...(body as Json), details: { ...details, causes: inTextOrder(causes) } };
  if ((body as Json)["reason"] !== "Invalid") return body;
  const told = [...new Set((causes as Json[]).map((cause) => JSON.stringify(withoutStructs(cause))))].toSorted();
  const message = String((body as Json)["message"])
    .split(": ")
    .slice(0, 1)
    .join();
  return {
    ...(body as Json),
    message,
    details: { ...details, causes: told.map((cause) => JSON.parse(cause) as Json) },
  };
}

function inTextOrder(causes: readonly unknown[]): unknown[] {
  return causes
    .map((cause) => JSON.stringify(cause))
    .toSorted()
    .map((cause): unknown => JSON.parse(cause));
}

/** What is wrong with the types of members of a map is told in the order of Go's maps, which is left to chance. */
function unordered(body: unknown): unknown {
  const message = (body as Json | null)?.["message"];
  if (typeof message !== "string" || !message.includes(": errors:\n  ")) return body;
  const [head = "", ...lines] = message.split("\n  ");
  return { ...(body as Json), message: [head, ...lines.toSorted()].join("\n  ") };
}

/** Values of immutable fields, and what differs in them, are told as Go prints its own structs: only that they are is compared. */
function withoutStructs(cause: Json): Json {
  const [first = ""] = String(cause["message"]).split("\n");
  const message = first.endsWith(": field is immutable") ? "field is immutable" : withOrderedJson(first);
  return { ...cause, message: withoutPort(message, cause["field"]) };
}

/** An object that a message shows: the order of its members is not compared. */
function withOrderedJson(message: string): string {
  const [, before = "", shown, after = ""] = /^(Invalid value: )("\{.*\}")(: .*)$/.exec(message) ?? [];
  if (shown === undefined) return message;
  try {
    const object = JSON.parse(JSON.parse(shown) as string) as unknown;
    return `${before}${JSON.stringify(sorted(object))}${after}`;
  } catch {
    return message;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, child]) => [key, sorted(child)]));
}

/** Ports that a server chose itself. */
function withoutPort(message: string, field: unknown): string {
  return /nodePort$/i.test(String(field)) ? message.replace(/: 3[0-2]\d{3}(?=$|:)/, ": <port>") : message;
}
