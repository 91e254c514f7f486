/** Upstream's reasons of dial_failure_count, and those of this server's own rules. */
export type DialReason =
  | "no_agent"
  | "error_response"
  | "backend_close"
  | "frontend_close"
  | "timeout"
  | "refused"
  | "limit"
  | "draining";

/** Why a connection was not made. The API server prints the message as the reason of the HTTP status. */
export class DialError extends Error {
  readonly reason: DialReason;
  readonly status: number;

  constructor(reason: DialReason, status: number, message: string) {
    super(message);
    this.reason = reason;
    this.status = status;
  }
}

/** 504 for a time-out, 503 for an agent without file descriptors, and 502 otherwise, as upstream. */
export function statusOfAgentError(error: string): number {
  if (/timeout|deadline exceeded|timed out|ETIMEDOUT/i.test(error)) return 504;
  return /too many open files|EMFILE/i.test(error) ? 503 : 502;
}

/** Whether the host itself refused: nothing was sent, so that the dial can be repeated. */
export function isRefusedByHost(error: string): boolean {
  return /connection refused|ECONNREFUSED/i.test(error);
}
