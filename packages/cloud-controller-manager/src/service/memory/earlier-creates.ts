import type { Clock } from "@causeway/foundation";
import type { Service } from "@causeway/kubernetes";
import { serviceFinalizer } from "../parameters/concern.ts";

/**
 * How long (ms) a create may continue in the cloud after its connection was lost, in addition to the time that its
 * members take.
 */
const LOST_FOR = 10_000;
/** Measured on the OVN provider: 170 ms a member. */
const MEMBER_TAKES = 500;
/** After that (ms) no create of a process that ended before this one began is under way. */
const OVER = 3_600_000;

/** How long (ms) a load balancer with so many members may be created without being listed. */
export function creationTime(members: number): number {
  return LOST_FOR + MEMBER_TAKES * members;
}

/**
 * Creates of the process before this one. A process may end after its POST was sent and before its answer came, and a
 * load balancer may not be listed before the POST is done: a Service that had our finalizer when it was first seen may
 * have such a create under way.
 */
export class EarlierCreates {
  readonly #clock: Clock;
  #began: number | undefined;
  /** UIDs of Services for which no earlier process can have created anything. */
  readonly #fresh = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Until when (ms since the epoch) nothing is created for the Service; undefined: no create of an earlier process can
   * be under way.
   */
  until({ metadata }: Service, members: number): number | undefined {
    const now = this.#clock.now();
    this.#began ??= now;
    if (now - this.#began > OVER) {
      this.#fresh.clear();
      return undefined;
    }
    const uid = metadata.uid ?? "";
    if (metadata.finalizers?.includes(serviceFinalizer) !== true) this.#fresh.add(uid);
    return this.#fresh.has(uid) ? undefined : this.#began + creationTime(members);
  }
}
