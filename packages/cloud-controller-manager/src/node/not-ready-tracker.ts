import type { Clock } from "@causeway/foundation";
import type { Node } from "@causeway/kubernetes";

/** For so long (ms) after a kubelet fell silent the cloud is queried for its server. */
const doubt = 120_000;

/** Since when nodes are seen not to be Ready: their servers may just have stopped or gone. */
export class NotReadyTracker {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the Node became not Ready lately; false for a Node whose kubelet has never reported a status. */
  isFresh({ metadata, status }: Node): boolean {
    const ready = status?.conditions?.find((condition) => condition.type === "Ready");
    if (!ready || ready.status === "True") {
      this.#since.delete(metadata.name);
      return false;
    }
    const since = this.#since.get(metadata.name) ?? this.#clock.now();
    this.#since.set(metadata.name, since);
    return this.#clock.now() - since < doubt;
  }

  forget(name: string): void {
    this.#since.delete(name);
  }
}
