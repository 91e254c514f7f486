import type { LineCounter, Node, Scalar, YAMLMap } from "yaml";
import { MAXIMUM_DEPTH, MAXIMUM_STRICT_ERRORS } from "../bounds.ts";
import { yaml } from "../lazy-imports.ts";

/** What a YAML document says as JSON, and what strict validation has to report of it. */
export interface ReadYaml {
  readonly value: unknown;
  /** Keys given twice, in go-yaml's words. */
  readonly duplicates: readonly string[];
}

/** What aliases may add to a text: so many times its length, and something for short ones. */
const GROWTH = 10;
const LEAST_GROWTH = 10_000;

/**
 * The value of a document's root, in time linear in the text: each alias gets a value of its own, within what aliases
 * may add.
 */
export function yamlValue(root: Node | null, text: { readonly lines: LineCounter; readonly size: number }): ReadYaml {
  const reading = new YamlReader(text.lines, GROWTH * text.size + LEAST_GROWTH);
  return { value: reading.valueOf(root, 0), duplicates: reading.duplicates };
}

/** Represents the value of an anchor while it is read. */
const OPEN = Symbol("open");

class YamlReader {
  readonly duplicates: string[] = [];
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, unknown>();
  #left: number;

  constructor(lines: LineCounter, growth: number) {
    this.#lines = lines;
    this.#left = growth;
  }

  valueOf(node: unknown, depth: number): unknown {
    const { isAlias, isMap, isScalar, isSeq } = yaml();
    if (depth > MAXIMUM_DEPTH) throw tooDeep();
    if (isScalar(node)) return this.#anchored(node.anchor, scalarOf(node));
    if (isAlias(node)) return this.#aliased(node.source, depth);
    if (!isMap(node) && !isSeq(node)) return null;
    this.#anchored(node.anchor, OPEN);
    const value = isMap(node)
      ? this.#object(node, depth)
      : node.items.map((item: unknown) => this.valueOf(item, depth + 1));
    return this.#anchored(node.anchor, value);
  }

  #anchored(anchor: string | undefined, value: unknown): unknown {
    if (anchor !== undefined) this.#anchors.set(anchor, value);
    return value;
  }

  #object({ items }: YAMLMap, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const seen = new Set<unknown>();
    for (const { key, value } of items) {
      if (!yaml().isScalar(key)) throw new Error("yaml: invalid map key");
      if (seen.has(key.value)) this.#repeated(key);
      seen.add(key.value);
      const name = nameOf(scalarOf(key));
      this.#anchored(key.anchor, key.value);
      put(object, name, this.valueOf(value, depth + 1));
    }
    return object;
  }

  #repeated({ value, range }: Scalar): void {
    if (this.duplicates.length === MAXIMUM_STRICT_ERRORS) return;
    const { line } = this.#lines.linePos(range?.[0] ?? 0);
    this.duplicates.push(`line ${line}: key ${JSON.stringify(value)} already set in map`);
  }

  #aliased(name: string, depth: number): unknown {
    const value = this.#anchors.get(name);
    if (value === undefined) throw new Error(`yaml: unknown anchor '${name}' referenced`);
    if (value === OPEN) throw new Error(`yaml: anchor '${name}' value contains itself`);
    return this.#copy(value, depth);
  }

  #copy(value: unknown, depth: number): unknown {
    this.#spend(typeof value === "string" ? value.length + 1 : 1);
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAXIMUM_DEPTH) throw tooDeep();
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, depth + 1));
    const copy: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      this.#spend(key.length);
      put(copy, key, this.#copy(inner, depth + 1));
    }
    return copy;
  }

  #spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new Error("yaml: document contains excessive aliasing");
  }
}

function scalarOf({ value }: Scalar): unknown {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new Error(`json: unsupported value: ${value > 0 ? "+Inf" : value < 0 ? "-Inf" : "NaN"}`);
  return value ?? null;
}

/** The name of a member of which a scalar is the key. */
function nameOf(key: unknown): string {
  return typeof key === "string" ? key : key === null ? "" : JSON.stringify(key);
}

/** Sets a member; right for "__proto__" too. */
function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function tooDeep(): Error {
  return new Error(`yaml: exceeded max depth of ${MAXIMUM_DEPTH}`);
}
