import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Modules of a file's own package that it imports, as far as they are named by relative paths. */
const IMPORT = /(?:from|import\()\s*"(\.[^"]+)"/g;

/** How many imports lead from one file to another: what is near is about it. */
export class Imports {
  readonly #root: string;
  readonly #direct = new Map<string, readonly string[]>();
  readonly #distances = new Map<string, ReadonlyMap<string, number>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** undefined where no import leads there. */
  distance(from: string, to: string): number | undefined {
    let known = this.#distances.get(from);
    if (!known) this.#distances.set(from, (known = this.#distancesFrom(from)));
    return known.get(to);
  }

  #distancesFrom(start: string): ReadonlyMap<string, number> {
    const found = new Map([[start, 0]]);
    for (const [file, distance] of found) {
      for (const next of this.#imports(file)) if (!found.has(next)) found.set(next, distance + 1);
    }
    return found;
  }

  #imports(file: string): readonly string[] {
    const known = this.#direct.get(file);
    if (known) return known;
    const path = join(this.#root, file);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const found = [...text.matchAll(IMPORT)].map(([, name = ""]) => relative(this.#root, join(dirname(path), name)));
    this.#direct.set(file, found);
    return found;
  }
}
