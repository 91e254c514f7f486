import type { Collection } from "./collections.ts";

/** What a key holds: a serial at a revision, or nothing. */
export type Held = { readonly serial: number; readonly revision: number } | undefined;

/** A write whose answer did not come: it may have happened, as a whole. */
type PendingWrite = { readonly serial: number | undefined } | undefined;

/**
 * All that was ever promised or seen. Every contradiction becomes a line in `problems`; the test is that there is none.
 */
export class Ledger {
  readonly problems: string[] = [];
  acknowledged = 0;
  unanswered = 0;
  /** The newest revision that a client has received. */
  newest = 0;
  readonly #revisions = new Map<number, string>();
  readonly #held = new Map<string, Held>();
  readonly #pending = new Map<string, PendingWrite>();

  held(collection: Collection, name: string): Held {
    return this.#held.get(keyOf(collection, name));
  }

  promise(collection: Collection, name: string, held: Held): void {
    this.acknowledged += 1;
    this.#held.set(keyOf(collection, name), held);
    if (held) this.note(held.revision, { collection, name, serial: held.serial });
  }

  /** The server went away before it responded. */
  unknown(collection: Collection, name: string, serial: number | undefined): void {
    this.unanswered += 1;
    this.#pending.set(keyOf(collection, name), { serial });
  }

  /** One revision is one state of one object, whichever response has it and however often. */
  note(
    revision: number,
    { collection, name, serial }: { collection: Collection; name: string; serial: number | undefined },
  ): void {
    this.newest = Math.max(this.newest, revision);
    const said = `${keyOf(collection, name)} ${serial ?? "gone"}`;
    const before = this.#revisions.get(revision);
    if (before !== undefined && before !== said) this.problems.push(`revision ${revision} is ${before} and ${said}`);
    this.#revisions.set(revision, said);
  }

  /** Holds what a fresh list shows against all promises, and takes it as the truth from here on. */
  settle(collection: Collection, found: ReadonlyMap<string, Held>): void {
    const prefix = keyOf(collection, "");
    const names = [...this.#held.keys()].filter((k) => k.startsWith(prefix)).map((k) => k.slice(prefix.length));
    const pending = [...this.#pending.keys()].filter((k) => k.startsWith(prefix)).map((k) => k.slice(prefix.length));
    for (const name of new Set([...names, ...pending, ...found.keys()])) {
      const key = keyOf(collection, name);
      const seen = found.get(name);
      const problem = contradiction(this.#held.get(key), this.#pending.get(key), seen);
      if (problem !== undefined) this.problems.push(`${key}: ${problem}`);
      this.#held.set(key, seen);
      this.#pending.delete(key);
    }
  }
}

function contradiction(held: Held, pending: PendingWrite, seen: Held): string | undefined {
  if (seen?.revision === held?.revision && seen?.serial === held?.serial) return undefined;
  const promised = `${held ? `serial ${held.serial} at ${held.revision}` : "absence"} was acknowledged`;
  const shown = seen ? `serial ${seen.serial} at ${seen.revision} is there` : "it is not there";
  const happened = pending !== undefined && pending.serial === seen?.serial;
  if (!happened) return `${promised}, ${shown}${pending ? `, serial ${pending.serial ?? "none"} was requested` : ""}`;
  return seen && held && seen.revision <= held.revision ? `${promised}, and ${shown}` : undefined;
}

function keyOf({ path }: Collection, name: string): string {
  return `${path}/${name}`;
}
