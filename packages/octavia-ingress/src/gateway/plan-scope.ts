import { FINALIZER } from "../names.ts";
import type { Gateway } from "../objects/gateway.ts";

/** Whether an earlier process may have created something for the Gateway. */
export function isHeld({ metadata }: Gateway): boolean {
  return metadata.finalizers?.includes(FINALIZER) === true;
}

/**
 * Whether there is anything to do for a Gateway. One that is not ours is cleaned up if we had it; one whose class is
 * gone waits for it to be installed again, which must not cost what it served, until it is deleted itself.
 */
export function concerns(gateway: Gateway, its: { readonly isOurs: boolean; readonly hasClass: boolean }): boolean {
  if (its.isOurs) return true;
  return isHeld(gateway) && (its.hasClass || gateway.metadata.deletionTimestamp !== undefined);
}
