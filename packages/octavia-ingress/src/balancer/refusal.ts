import { messageOf } from "@causeway/foundation";
import type { PlannedEvent } from "@causeway/kubernetes";
import { isBadRequest, isForbidden, isNotImplemented, isOpenStackConflict, isQuotaExceeded } from "@causeway/openstack";

/** The cloud refuses the call for what it is: 400, 403, 409, 501, a quota. */
export function isRefusal(error: unknown): boolean {
  return [isBadRequest, isForbidden, isNotImplemented, isOpenStackConflict, isQuotaExceeded].some((is) => is(error));
}

/** What a step that failed is to the owner's reader. */
export function failureOf(step: { readonly type: string }, error: unknown): PlannedEvent {
  return { type: "Warning", reason: "Failed", message: `${step.type}: ${messageOf(error)}` };
}
