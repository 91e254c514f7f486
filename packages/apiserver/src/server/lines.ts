import type { KubeObject } from "@causeway/kubernetes";

/** Lines of watches as bytes, so that what a thousand watchers are told is written down once. They live as long as the objects they tell. */
export class Lines {
  readonly #known = new WeakMap<KubeObject, Map<string, Buffer>>();

  /** `{"type":TYPE,"object":OBJECT}` and the end of the line, for an object that never changes. */
  of(type: string, object: KubeObject): Buffer {
    const lines = this.#known.get(object) ?? new Map<string, Buffer>();
    const known = lines.get(type);
    if (known) return known;
    const line = Buffer.from(lineOf(type, JSON.stringify(object)));
    this.#known.set(object, lines.set(type, line));
    return line;
  }
}

export function lineOf(type: string, json: string): string {
  return `{"type":"${type}","object":${json}}\n`;
}
