import type { Api } from "./api.ts";
import { serialOf, type Collection, type Observed } from "./collections.ts";
import type { Held, Ledger } from "./ledger.ts";

interface Event {
  readonly type: string;
  readonly object: Observed;
}

/** Follows a collection for the whole test by watches alone, each from where the last one ended; never lists again. */
export class Watcher {
  readonly collection: Collection;
  /** "" for all, else a label selector. */
  readonly selector: string;
  readonly state = new Map<string, Held>();
  events = 0;
  readonly #ledger: Ledger;
  #last = 0;

  constructor(collection: Collection, selector: string, ledger: Ledger) {
    this.collection = collection;
    this.selector = selector;
    this.#ledger = ledger;
  }

  /** Where the first watch begins: the revision of a list, which held nothing yet. */
  from(revision: number): void {
    this.#last = revision;
  }

  /** Watches until the connection ends. */
  follow(api: Api): void {
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${this.#last}&labelSelector=${this.selector}`;
    api.lines(`${this.collection.path}?${query}`, (line) => this.#saw(JSON.parse(line) as Event));
  }

  #saw({ type, object }: Event): void {
    const where = `watch of ${this.collection.path} ${this.selector}`;
    const problem = (what: string): unknown => this.#ledger.problems.push(`${where}: ${what}`);
    if (type === "ERROR") return void problem(JSON.stringify(object));
    const { name, resourceVersion } = object.metadata;
    const revision = Number(resourceVersion);
    if (type === "BOOKMARK") {
      if (revision < this.#last) problem(`a bookmark at ${revision} after ${this.#last}`);
      this.#last = revision;
      return;
    }
    this.events += 1;
    if (revision <= this.#last) problem(`${name} at ${revision} came after ${this.#last}`);
    this.#last = revision;
    const known = this.state.has(name);
    if (known === (type === "ADDED")) problem(`${type} of ${name}, which was ${known ? "there" : "not there"}`);
    const serial = serialOf(object);
    if (serial === undefined) return void problem(`${name} at ${revision} is not whole`);
    if (type === "DELETED") this.state.delete(name);
    else this.state.set(name, { serial, revision });
    // With a selector, DELETED may be an object that only left it.
    if (type !== "DELETED") this.#ledger.note(revision, { collection: this.collection, name, serial });
    else if (this.selector === "")
      this.#ledger.note(revision, { collection: this.collection, name, serial: undefined });
  }
}
