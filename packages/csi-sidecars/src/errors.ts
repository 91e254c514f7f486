import { Code, ConnectError } from "@causeway/csi";
import { messageOf } from "@causeway/foundation";
import { isConflict } from "@causeway/kubernetes";

/** After these the driver may still work on the request. */
const OPEN = new Set([
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.Unavailable,
  Code.ResourceExhausted,
  Code.Aborted,
  Code.Unknown,
]);

/** Whether nothing was created, and nothing is under way. */
export function isFinal(error: unknown): boolean {
  return error instanceof ConnectError && !OPEN.has(error.code);
}

/** Whether the topology of the request has no room (RESOURCE_EXHAUSTED of CreateVolume): another one may have. */
export const isExhausted = (error: unknown): boolean =>
  error instanceof ConnectError && error.code === Code.ResourceExhausted;

/** The driver does not have what the call names. */
export const isMissing = (error: unknown): boolean => error instanceof ConnectError && error.code === Code.NotFound;

const LONGEST = 1_000;

/** For events and statuses, as the stock sidecars write it; undefined: a lost race, which is no failure. */
export function shownError(error: unknown): string | undefined {
  if (isConflict(error)) return undefined;
  const text =
    error instanceof ConnectError
      ? `rpc error: code = ${Code[error.code]} desc = ${error.rawMessage}`
      : messageOf(error);
  return text.slice(0, LONGEST);
}
