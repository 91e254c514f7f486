import { messageOf } from "@causeway/foundation";
import type { PlannedEvent } from "@causeway/kubernetes";
import {
  isBadRequest,
  isDeletionsHeld,
  isForbidden,
  isNotImplemented,
  isOpenStackConflict,
  isQuotaExceeded,
} from "@causeway/openstack";

/** The cloud refuses the call for what it is (400, 403, 409, 501, a quota), or the operator holds deletions. */
export function isRefusal(error: unknown): boolean {
  const kinds = [isBadRequest, isForbidden, isNotImplemented, isOpenStackConflict, isQuotaExceeded, isDeletionsHeld];
  return kinds.some((is) => is(error));
}

/** What a step that failed is to the owner's reader. */
export function failureOf(step: { readonly type: string }, error: unknown): PlannedEvent {
  return { type: "Warning", reason: "Failed", message: `${step.type}: ${messageOf(error)}` };
}
