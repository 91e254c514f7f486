import type { KubeObject } from "@causeway/kubernetes";

/** A representation of objects in watch events: tables, metadata alone. */
export interface Form {
  readonly name: string;
  /** What else decides the text: of two events of one object and form that depend on the same, the text is the same. */
  readonly depends: readonly unknown[];
  readonly encode: (object: KubeObject) => string;
}

interface Line {
  readonly depends: readonly unknown[];
  readonly bytes: Buffer;
}

const WHOLE: Form = { name: "", depends: [], encode: JSON.stringify };

/** Bytes of lines that are kept: more than what the writes of one turn of the event loop take together. */
const MOST = 4 * 1024 * 1024;

/**
 * Lines of watches as bytes, so that what a thousand watches send is encoded once for each form: all of them send it
 * soon after the change. The lines of the latest changes are kept, of each form of an object the latest.
 */
export class WatchLineCache {
  readonly #known = new WeakMap<KubeObject, Map<string, Line>>();
  /** The oldest first. */
  readonly #kept = new Set<{ readonly of: Map<string, Line>; readonly key: string; readonly line: Line }>();
  #size = 0;

  /** `{"type":TYPE,"object":OBJECT}` and the end of the line, for an object that never changes. */
  of(type: string, object: KubeObject, { name, depends, encode }: Form = WHOLE): Buffer {
    const lines = this.#known.get(object) ?? new Map<string, Line>();
    const key = `${type} ${name}`;
    const known = lines.get(key);
    if (known && depends.every((value, i) => value === known.depends[i])) return known.bytes;
    const line = { depends, bytes: ownBytes(lineOf(type, encode(object))) };
    this.#known.set(object, lines.set(key, line));
    this.#keep({ of: lines, key, line });
    return line.bytes;
  }

  #keep(entry: { readonly of: Map<string, Line>; readonly key: string; readonly line: Line }): void {
    this.#kept.add(entry);
    this.#size += entry.line.bytes.length;
    for (const oldest of this.#kept) {
      if (this.#size <= MOST) break;
      this.#kept.delete(oldest);
      this.#size -= oldest.line.bytes.length;
      if (oldest.of.get(oldest.key) === oldest.line) oldest.of.delete(oldest.key);
    }
  }
}

/** In memory of its own: a piece of a pool would keep all of the pool, which nothing counts. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** One event of a watch as a line of JSON, from the JSON of its object. */
export function lineOf(type: string, json: string): string {
  return `{"type":"${type}","object":${json}}\n`;
}
