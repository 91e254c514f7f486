import { CausewayError, messageOf, type Clock } from "@causeway/foundation";
import type { Condition, KubeObject } from "@causeway/kubernetes";
import {
  isBadRequest,
  isDeletionsHeld,
  isForbidden,
  isNotImplemented,
  isOpenStackConflict,
  isQuotaExceeded,
  isRateLimited,
  isUnauthorized,
} from "@causeway/openstack";
import { RATE_LIMITED, type Hold } from "../identity/state.ts";
import { oneLine } from "../resources/findings.ts";

/** What to say of a failed step, and whether an early retry can succeed. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
  /** Milliseconds to leave it alone; undefined: the queue's own back-off. */
  readonly pause?: number;
}

const minute = 60_000;

/** What is known before a step fails. */
export interface RefusalOptions {
  /** What is published of it. */
  readonly known?: string | undefined;
  /** What to say and how long to wait (ms) when the cloud refuses it with a reason of its own. */
  readonly refusal?: { readonly pause: number; readonly advice: string } | undefined;
}

/**
 * Reads an error of a step. `reason` is the step's own, for what has no better name.
 * The message has the request's id, by which an operator finds it in the service's log: that of the first request that
 * failed so, since each retry has another one and nothing else is new.
 */
export function refusalOf(error: unknown, reason: string, { known, refusal }: RefusalOptions = {}): Refusal {
  const hint = error instanceof CausewayError && error.hint !== undefined ? ` ${error.hint}` : "";
  const said = (advice: string): string => firstOf(known, oneLine(`${messageOf(error)}${requestOf(error)}${advice}`));
  const message = said(hint);
  if (isQuotaExceeded(error)) {
    const advice = "Request a higher quota, or delete unused resources; the step is retried every minute.";
    return { reason: "QuotaExceeded", message: said(` ${advice}`), pause: minute };
  }
  if (isDeletionsHeld(error)) return { reason: "DeletionsHeld", message, pause: minute };
  // Nothing is called again before the cloud takes calls: the session says until when.
  if (isRateLimited(error)) return { reason: RATE_LIMITED, message };
  // Other credentials lift it, which the session finds, and not an early retry.
  if (isUnauthorized(error)) return { reason: "AuthenticationFailed", message };
  if (isForbidden(error)) return { reason: "Forbidden", message, pause: minute };
  const isRefused = isBadRequest(error) || isNotImplemented(error) || isOpenStackConflict(error);
  if (isRefused && refusal) return { reason, message: said(` ${refusal.advice}`), pause: refusal.pause };
  if (isBadRequest(error) || isNotImplemented(error)) return { reason, message, pause: minute };
  if (isOpenStackConflict(error)) return { reason, message, pause: 5_000 };
  return { reason, message };
}

function requestOf(error: unknown): string {
  const id = error instanceof CausewayError ? error.details?.["requestId"] : undefined;
  return typeof id === "string" && /^[\w-]{1,64}$/.test(id) ? ` (request ${id})` : "";
}

const withoutRequest = (message: string): string => message.replaceAll(/ \(request [\w-]{1,64}\)/g, "");

const firstOf = (known: string | undefined, message: string): string =>
  known !== undefined && withoutRequest(known) === withoutRequest(message) ? known : message;

/** What a condition of an object says. */
export function publishedMessage(
  { status }: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): string | undefined {
  return status?.conditions?.find((each) => each.type === type)?.message;
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
