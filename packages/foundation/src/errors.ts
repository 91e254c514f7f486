/** What a person or a caller needs beyond the message of an error. */
export interface ErrorContext {
  /** The error that led to this one. */
  readonly cause?: unknown;
  /** What a person can do about it, as one sentence. */
  readonly hint?: string;
  /** Structured facts for logs and predicates. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The one error class that people meet. `code` is stable, upper snake case, and listed in
 * docs/reference/errors/; `message` says what happened; `hint` says what to do.
 */
export class CausewayError extends Error {
  override readonly name: string = "CausewayError";
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** The status with which a command ends that fails with this error. */
  readonly exitStatus: number = 1;

  constructor(code: string, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.hint = context.hint;
    this.details = context.details ?? {};
  }
}

/** What the user gave cannot work, and nothing was started or changed. */
export class InputError extends CausewayError {
  override readonly exitStatus = 2;
}

/** True if the error, or one it was caused by, carries this code. */
export function hasCode(error: unknown, code: string): boolean {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    if (e instanceof CausewayError && e.code === code) return true;
  }
  return false;
}

/** True if the error only says that an AbortSignal fired. */
export function isAborted(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || hasCode(error, "ABORTED"));
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
