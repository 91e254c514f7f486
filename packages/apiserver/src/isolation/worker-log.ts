import type { Log, LogFields } from "@causeway/foundation";
import type { PlainError, WorkerMessage } from "./messages.ts";
import { CausewayError, messageOf } from "@causeway/foundation";
import { isCorrupt } from "../store/index.ts";

/** A log whose lines go to the supervisor, which has the log. */
export function logTo(send: (message: WorkerMessage) => void, own: LogFields = {}): Log {
  const write =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields: LogFields = {}) =>
      send({ log: { level, message, fields: plain({ ...own, ...fields }) } });
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => logTo(send, { ...own, ...fields }),
  };
}

/** An error as JSON can carry it. */
export function plainError(error: unknown): PlainError {
  if (!(error instanceof CausewayError)) return { message: messageOf(error) };
  const { message, code, hint, details } = error;
  return { message, code, details: plain(details), ...(hint === undefined ? {} : { hint }) };
}

/** The error that `plainError` was made of, as far as JSON carried it. */
export function errorOf({ message, code, hint, details }: PlainError): Error {
  if (code === undefined) return new Error(message);
  const context = { ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) };
  return new CausewayError(code, message, context);
}

function plain(fields: LogFields): LogFields {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    value instanceof Error ? { message: value.message, code: (value as { code?: unknown }).code } : value,
  ]);
  return Object.fromEntries(entries) as LogFields;
}

/** Whether a worker cannot read its database, as opposed to what it refuses or cannot do just now. */
export function isBroken(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "APISERVER_WORKER_UNAVAILABLE" || code === "STATE_CORRUPT" || isCorrupt(error);
}
