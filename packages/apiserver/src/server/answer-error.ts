import { CausewayError } from "@causeway/foundation";
import type { RequestAudit } from "../contract/audit.ts";
import { isTooMany, sendTooMany } from "./fairness.ts";
import type { LogLimit } from "./log-limit.ts";
import { sendStatus, sendText } from "./respond.ts";
import type { Response } from "../contract/exchange.ts";
import { boundedStatus, isNoSuchPath, statusOf } from "../errors/status.ts";
import { isMalformed } from "./target.ts";

const PLAIN = "text/plain; charset=utf-8";

interface Failed {
  readonly method: string | undefined;
  readonly response: Response;
  readonly audit: RequestAudit | undefined;
  readonly log: LogLimit;
}

/**
 * Answers a request that failed. It never throws: where the answer cannot be written either, the connection or stream
 * ends.
 */
export function answerError(error: unknown, failed: Failed): void {
  try {
    answer(error, failed);
  } catch (cause) {
    abandon(cause, failed);
  }
}

/** Ends a request whose failure was not handled, or could not be sent. */
export function abandon(cause: unknown, { method, response, log }: Pick<Failed, "method" | "response" | "log">): void {
  const error = new CausewayError("APISERVER_REQUEST_FAILED", "a request was ended without an answer", { cause });
  try {
    log.log("error", "request ended without an answer", { code: error.code, method, reason: reasonOf(cause) });
  } catch {
    // A log that fails must not keep the response open.
  }
  response.destroy();
}

function answer(error: unknown, { method, response, audit, log }: Failed): void {
  const status = boundedStatus(statusOf(error));
  if (!(error instanceof CausewayError)) audit?.panicked();
  if (status.code >= 500 && status.code !== 504 && !isGone(error)) {
    log.log("error", "request failed", { method, status: status.code, error });
  }
  if (response.headersSent) response.end();
  else if (isTooMany(status)) sendTooMany(response);
  else if (isMalformed(status)) {
    // As Go's servers, which read nothing more on such a connection.
    if (!("stream" in response)) response.setHeader("connection", "close");
    sendText(response, 400, { type: PLAIN, body: status.message ?? "" });
  } else if (isNoSuchPath(status)) sendText(response, 404, { type: PLAIN, body: `${status.message ?? ""}\n` });
  else sendStatus(response, status);
}

/** The client went while its request was read. */
function isGone(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ECONNRESET" || error.code === "ERR_STREAM_PREMATURE_CLOSE")
  );
}

function reasonOf(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause).slice(0, 1000);
  } catch {
    return "unknown";
  }
}
