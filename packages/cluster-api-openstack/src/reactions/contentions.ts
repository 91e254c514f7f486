import type { Clock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";

/** Since when this process has seen that another object creates resources with the names of one of ours. */
export class Contentions {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes what is seen now. Returns ms since the epoch; undefined: nothing is contended. */
  note({ metadata }: KubeObject, isContended: boolean): number | undefined {
    const id = metadata.uid ?? `${metadata.namespace ?? ""}/${metadata.name}`;
    if (!isContended) {
      this.#since.delete(id);
      return undefined;
    }
    const since = this.#since.get(id) ?? this.#clock.now();
    this.#since.set(id, since);
    return since;
  }
}
