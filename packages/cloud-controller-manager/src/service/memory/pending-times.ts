import type { Clock } from "@causeway/foundation";
import type { LoadBalancer } from "@causeway/openstack";

/** Since when load balancers have been PENDING; Octavia does not report it for its own changes. */
export class PendingTimes {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch at which it was first seen so; undefined while it is not. */
  since({ id, provisioning_status: status }: LoadBalancer): number | undefined {
    if (!status.startsWith("PENDING_")) {
      this.#since.delete(id);
      return undefined;
    }
    const since = this.#since.get(id) ?? this.#clock.now();
    this.#since.set(id, since);
    return since;
  }

  forget(id: string): void {
    this.#since.delete(id);
  }
}
