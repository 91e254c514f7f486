import { pino, type Logger } from "pino";

/** Fields of a log line. Never secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log, one line per fact. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose lines all carry these fields. */
  with(fields: LogFields): Log;
}

/** How important a line of the log is. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Keys whose values never reach a log, wherever they are in the fields, two levels deep. */
const SECRET_KEYS = [
  "password",
  "token",
  "secret",
  "authorization",
  "userData",
  "user_data",
  "kubeconfig",
  "privateKey",
  "key",
  "application_credential_secret",
  "x-auth-token",
  "X-Auth-Token",
  "X-Subject-Token",
];

/**
 * A log of JSON lines on `destination` (standard error by default). What writes them is made for the first line: a
 * start that says nothing does without it.
 */
export function createLog(options: { level?: LogLevel; destination?: { write(line: string): void } } = {}): Log {
  const paths = SECRET_KEYS.flatMap((k) => [`["${k}"]`, `*["${k}"]`, `*.*["${k}"]`]);
  return wrap(
    once(() =>
      pino(
        {
          level: options.level ?? "info",
          base: null,
          formatters: { level: (label) => ({ level: label }) },
          timestamp: pino.stdTimeFunctions.isoTime,
          redact: { paths, censor: "[redacted]" },
        },
        options.destination ?? process.stderr,
      ),
    ),
  );
}

/** A log that says nothing. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLog,
};

function wrap(base: () => Logger): Log {
  return {
    debug: (message, fields) => base().debug(serialisable(fields), message),
    info: (message, fields) => base().info(serialisable(fields), message),
    warn: (message, fields) => base().warn(serialisable(fields), message),
    error: (message, fields) => base().error(serialisable(fields), message),
    with(fields) {
      const own = serialisable(fields);
      return wrap(once(() => base().child(own)));
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function serialisable(fields: LogFields = {}): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    out[key] = value instanceof Error ? { message: value.message, code: (value as { code?: unknown }).code } : value;
  }
  return out;
}
