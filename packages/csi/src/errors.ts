import { Code, ConnectError } from "@connectrpc/connect";
import { CausewayError, isAborted, messageOf } from "@causeway/foundation";

/** The error codes that a driver throws, and the gRPC status that the container orchestrator receives. */
const STATUS: Readonly<Record<string, Code>> = {
  CSI_INVALID_ARGUMENT: Code.InvalidArgument,
  CSI_NOT_FOUND: Code.NotFound,
  CSI_ALREADY_EXISTS: Code.AlreadyExists,
  CSI_RESOURCE_EXHAUSTED: Code.ResourceExhausted,
  CSI_FAILED_PRECONDITION: Code.FailedPrecondition,
  CSI_ABORTED: Code.Aborted,
  CSI_OUT_OF_RANGE: Code.OutOfRange,
  CSI_UNIMPLEMENTED: Code.Unimplemented,
  CSI_INTERNAL: Code.Internal,
  CSI_UNAVAILABLE: Code.Unavailable,
  CSI_DEADLINE_EXCEEDED: Code.DeadlineExceeded,
  CSI_PERMISSION_DENIED: Code.PermissionDenied,
  CSI_UNAUTHENTICATED: Code.Unauthenticated,
};

/** Longest status message in characters. HTTP/2 peers limit the size of trailers, and gRPC has the message there. */
const LONGEST = 2_000;

/** What the container orchestrator receives for an error. An error without a CSI code of its own is Internal. */
export function statusOf(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof CausewayError) {
    const code = STATUS[error.code];
    const hint = error.hint === undefined ? "" : ` ${error.hint}`;
    const message = code === undefined ? `${error.code}: ${error.message}` : error.message;
    return new ConnectError(`${message}${hint}`.slice(0, LONGEST), code ?? Code.Internal);
  }
  if (isAborted(error)) return new ConnectError("The caller ended the call.", Code.Canceled);
  return new ConnectError(messageOf(error).slice(0, LONGEST), Code.Internal);
}

/** Throws InvalidArgument unless the field has a value. */
export function required(value: string | undefined, field: string): string {
  if (value !== undefined && value !== "") return value;
  throw new CausewayError("CSI_INVALID_ARGUMENT", `The request has no ${field}.`);
}
