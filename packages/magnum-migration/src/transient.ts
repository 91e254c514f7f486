import { CausewayError } from "@causeway/foundation";
import { isRetryableOpenStackError } from "@causeway/openstack";

/**
 * Codes of what passes by itself: an election in etcd after a member was removed, an API server that is slow on a busy
 * machine, a resource that the cloud is changing already.
 */
const passing = new Set([
  "MIGRATE_ETCD_UNAVAILABLE",
  "MIGRATE_ETCD_UNREACHABLE",
  "KUBERNETES_UNREACHABLE",
  "KUBERNETES_SERVICE_UNAVAILABLE",
  "KUBERNETES_TIMEOUT",
  "KUBERNETES_SERVER_TIMEOUT",
  "KUBERNETES_TOO_MANY_REQUESTS",
  "KUBERNETES_INTERNAL_ERROR",
  "KUBERNETES_CONFLICT",
  "OPENSTACK_IMMUTABLE",
  "OPENSTACK_CONFLICT",
]);

/** Whether the same phase may succeed a moment later: everything is read again before the next step is decided. */
export function isTransient(error: unknown): boolean {
  return error instanceof CausewayError && (passing.has(error.code) || isRetryableOpenStackError(error));
}

const unreached = ["MIGRATE_ETCD_UNREACHABLE", "KUBERNETES_UNREACHABLE", "OPENSTACK_UNREACHABLE"];

/** Whether nothing responded at all, which a wrong address does, too. */
export function isUnreached(error: unknown): boolean {
  return error instanceof CausewayError && unreached.includes(error.code);
}
