import { CausewayError, hasCode } from "@causeway/foundation";

const CODES: readonly (readonly [openstack: string, csi: string])[] = [
  ["OPENSTACK_QUOTA_EXCEEDED", "CSI_RESOURCE_EXHAUSTED"],
  ["OPENSTACK_NOT_FOUND", "CSI_NOT_FOUND"],
  ["OPENSTACK_UNAUTHORIZED", "CSI_UNAUTHENTICATED"],
  ["OPENSTACK_FORBIDDEN", "CSI_PERMISSION_DENIED"],
  ["OPENSTACK_NOT_IMPLEMENTED", "CSI_UNIMPLEMENTED"],
  ["OPENSTACK_RATE_LIMITED", "CSI_UNAVAILABLE"],
  ["OPENSTACK_UNAVAILABLE", "CSI_UNAVAILABLE"],
  ["OPENSTACK_UNREACHABLE", "CSI_UNAVAILABLE"],
  ["OPENSTACK_OUTCOME_UNKNOWN", "CSI_UNAVAILABLE"],
  ["OPENSTACK_WAIT_TIMEOUT", "CSI_DEADLINE_EXCEEDED"],
];

/** The CSI error for an error of the cloud's client; other errors are returned as they are. */
export function translate(error: unknown): unknown {
  if (!(error instanceof CausewayError) || error.code.startsWith("CSI_")) return error;
  const found = CODES.find(([code]) => hasCode(error, code));
  // A conflict or a refused request: the sidecar retries, and the next call reads the state again.
  const code = found?.[1] ?? (error.code.startsWith("OPENSTACK_") ? "CSI_INTERNAL" : undefined);
  if (code === undefined) return error;
  return new CausewayError(code, error.message, { cause: error, ...(error.hint && { hint: error.hint }) });
}
