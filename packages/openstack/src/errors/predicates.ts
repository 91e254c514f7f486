import { CausewayError, hasCode } from "@causeway/foundation";

/** The resource is not there, or not for this project. */
export function isOpenStackNotFound(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_NOT_FOUND");
}
/** In use, duplicate, or changed in between. */
export function isOpenStackConflict(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_CONFLICT");
}
/** The project's quota is exhausted. */
export function isQuotaExceeded(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_QUOTA_EXCEEDED");
}
/** The load balancer is being changed by an earlier call. */
export function isImmutable(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_IMMUTABLE");
}
/** The cloud's driver or release cannot do this at all. */
export function isNotImplemented(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_NOT_IMPLEMENTED");
}
/** The credentials were refused. */
export function isUnauthorized(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_UNAUTHORIZED");
}
/** The cloud limits the rate of requests (429), also that of the repeated ones. */
export function isRateLimited(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_RATE_LIMITED");
}
/** The user may not do this (403). */
export function isForbidden(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_FORBIDDEN");
}
/** The request is wrong in itself: repeating it changes nothing. */
export function isBadRequest(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_BAD_REQUEST");
}
/** The operator holds deletions: the same call is refused until they are released. */
export function isDeletionsHeld(error: unknown): boolean {
  return hasCode(error, "CLOUD_DELETIONS_HELD");
}
/** A create may or may not have been executed: search for its result before a retry. */
export function isOutcomeUnknown(error: unknown): boolean {
  return hasCode(error, "OPENSTACK_OUTCOME_UNKNOWN");
}

const RETRYABLE = new Set([
  "OPENSTACK_RATE_LIMITED",
  "OPENSTACK_UNAVAILABLE",
  "OPENSTACK_UNREACHABLE",
  "OPENSTACK_IMMUTABLE",
  "OPENSTACK_OUTCOME_UNKNOWN",
]);

/** True if the same call, after a search for its result, may well succeed later without any change. */
export function isRetryableOpenStackError(error: unknown): boolean {
  return error instanceof CausewayError && RETRYABLE.has(error.code);
}
