import type { Answer, Json } from "../interface.ts";
import { ordered } from "./causes.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Times of now; the generators' own are of 2001. */
const TIME = /20(2[5-9]|[3-9]\d)-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)/g;

/**
 * Names what two equal servers choose differently by ordinals: uids, revisions, times, names and addresses
 * that a server chose.
 */
export class Normal {
  readonly #uids = new Map<string, string>();
  readonly #revisions = new Map<string, string>();
  readonly #names = new Map<string, string>();

  generated(name: string): void {
    if (!this.#names.has(name)) this.#names.set(name, `${name.slice(0, -5)}<generated ${this.#names.size}>`);
  }

  answer({ code, body, headers, text }: Answer): unknown {
    const warnings = headers["warning"];
    const shown = Object.keys(body).length === 0 && text !== "" ? text : this.value(body);
    return {
      code,
      ...(warnings === undefined ? {} : { warnings: this.value([warnings].flat()) }),
      body: ordered(shown, (value) => this.value(value)),
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

  /** Lists have a revision that others' writes raise; objects have one of their own. */
  #revision(revision: string, parent: Json): string {
    if (parent["uid"] === undefined && parent["name"] === undefined) return "<revision>";
    if (!/^\d+$/.test(revision)) return revision;
    const known = this.#revisions.get(revision) ?? `<revision ${this.#revisions.size}>`;
    this.#revisions.set(revision, known);
    return known;
  }

  #text(text: string): string {
    const replaced = text
      // Go types with names of their own become the type that they are based on here.
      .replace(/(json: cannot unmarshal .* of type )v1\.[A-Z]\w+$/, "$1string")
      // The real server reads fields in no order, and at the first that is not declared it stops.
      .replace(/^(failed to create typed patch object .*?\): )[^]*field not declared in schema[^]*$/, "$1<undeclared>")
      .replaceAll(/\bkube-api-access-\w{5}\b/g, "kube-api-access-<generated>")
      .replaceAll(TIME, "<time>")
      .replaceAll(UUID, (uid) => {
        const known = this.#uids.get(uid) ?? `<uid ${this.#uids.size}>`;
        this.#uids.set(uid, known);
        return known;
      });
    const named = [...this.#names].reduce((whole, [name, shown]) => whole.replaceAll(name, shown), replaced);
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
