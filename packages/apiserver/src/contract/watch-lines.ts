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

/**
 * Lines of watches as bytes, so that what a thousand watches send is encoded once for each form. They live as long as
 * the objects that they show, of each form the latest.
 */
export class Lines {
  readonly #known = new WeakMap<KubeObject, Map<string, Line>>();

  /** `{"type":TYPE,"object":OBJECT}` and the end of the line, for an object that never changes. */
  of(type: string, object: KubeObject, { name, depends, encode }: Form = WHOLE): Buffer {
    const lines = this.#known.get(object) ?? new Map<string, Line>();
    const key = `${type} ${name}`;
    const known = lines.get(key);
    if (known && depends.every((value, i) => value === known.depends[i])) return known.bytes;
    const bytes = Buffer.from(lineOf(type, encode(object)));
    this.#known.set(object, lines.set(key, { depends, bytes }));
    return bytes;
  }
}

export function lineOf(type: string, json: string): string {
  return `{"type":"${type}","object":${json}}\n`;
}
