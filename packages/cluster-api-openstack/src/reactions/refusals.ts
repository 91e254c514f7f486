import { CausewayError, messageOf, type Clock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { isBadRequest, isForbidden, isNotImplemented, isOpenStackConflict, isQuotaExceeded } from "@causeway/openstack";
import type { Hold } from "../identity/state.ts";
import { oneLine } from "../resources/findings.ts";

/** What to say of a failed step, and whether it is worth asking again soon. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
  /** Milliseconds to leave it alone; undefined: the queue's own back-off. */
  readonly pause?: number;
}

const minute = 60_000;

/** Reads an error of a step. `reason` is the step's own, for what has no better name. */
export function refusalOf(error: unknown, reason: string): Refusal {
  const hint = error instanceof CausewayError && error.hint !== undefined ? ` ${error.hint}` : "";
  const message = oneLine(`${messageOf(error)}${hint}`);
  if (isQuotaExceeded(error)) {
    const advice = "Request a higher quota, or delete unused resources; the step is retried every minute.";
    return { reason: "QuotaExceeded", message: oneLine(`${messageOf(error)} ${advice}`), pause: minute };
  }
  if (isForbidden(error)) return { reason: "Forbidden", message, pause: minute };
  if (isBadRequest(error) || isNotImplemented(error)) return { reason, message, pause: minute };
  if (isOpenStackConflict(error)) return { reason, message, pause: 5_000 };
  return { reason, message };
}

/** Current refusals, by object. A new generation of the spec, or the end of the pause, lifts them. */
export class Refusals {
  readonly #clock: Clock;
  readonly #holds = new Map<string, Hold & { readonly generation: number | undefined; readonly deleting: boolean }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes a refusal of a step for `type`, if it is one to wait with. */
  note(object: KubeObject, type: string, refusal: Refusal): void {
    if (refusal.pause === undefined) return;
    const { reason, message, pause } = refusal;
    const until = this.#clock.now() + pause;
    const { generation, deletionTimestamp } = object.metadata;
    this.#holds.set(idOf(object), {
      type,
      reason,
      message,
      until,
      generation,
      deleting: deletionTimestamp !== undefined,
    });
  }

  get(object: KubeObject): Hold | undefined {
    const id = idOf(object);
    const hold = this.#holds.get(id);
    if (!hold) return undefined;
    const { generation, deletionTimestamp } = object.metadata;
    const stands =
      hold.until > this.#clock.now() &&
      hold.generation === generation &&
      hold.deleting === (deletionTimestamp !== undefined);
    if (!stands) this.#holds.delete(id);
    return stands ? hold : undefined;
  }
}

function idOf({ metadata }: KubeObject): string {
  return metadata.uid ?? `${metadata.namespace ?? ""}/${metadata.name}`;
}
