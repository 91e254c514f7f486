import { CausewayError, hasCode, type LimitExceeded } from "@causeway/foundation";
import type { Status } from "../types/meta.ts";

/** What was requested when the server refused. Never carries a body or a header. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly server: string;
}

/** metav1.StatusReason by HTTP code, for answers that carry no Status (a proxy's, for instance). */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  502: "ServiceUnavailable",
  503: "ServiceUnavailable",
  504: "Timeout",
};

const HINTS: Readonly<Record<string, string>> = {
  KUBERNETES_UNAUTHORIZED:
    "Check the token or client certificate of the kubeconfig: it may have expired or belong to another cluster.",
  KUBERNETES_FORBIDDEN: "Grant the permission with a Role and RoleBinding, or use another identity.",
  KUBERNETES_CONFLICT: "Read the object again and repeat the change.",
  KUBERNETES_TOO_MANY_REQUESTS: "Wait and try again.",
};

/** Of a server's message, what is shown. */
const LONGEST_MESSAGE = 10_000;

/** The error for a refused request. `body` is the parsed answer, or its text. */
export function refused(httpStatus: number, body: unknown, facts: RequestFacts): CausewayError {
  const status = isStatus(body) ? body : undefined;
  const reason = status?.reason || REASONS[status?.code ?? httpStatus] || "Unknown";
  const code = codeOf(reason);
  const message =
    status?.message?.slice(0, LONGEST_MESSAGE) || `${facts.method} ${facts.path} failed with HTTP ${httpStatus}`;
  const hint = HINTS[code];
  return new CausewayError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    details: { ...facts, httpStatus, ...(status ? { status } : {}) },
  });
}

/**
 * The error for an answer that is larger or nested deeper than a Kubernetes API server's: it was not read to its end.
 */
export function tooLarge(cause: LimitExceeded, facts: RequestFacts): CausewayError {
  const message = `the answer to ${facts.method} ${facts.path} was not read to its end: ${cause.message}`;
  return new CausewayError("KUBERNETES_ANSWER_TOO_LARGE", message, {
    cause,
    hint: "Check that the server's address leads to a Kubernetes API server and not to another web server.",
    details: { ...facts, limit: cause.limit },
  });
}

/** The error for a server that could not be reached or that hung up. */
export function unreachable(cause: unknown, facts: RequestFacts): CausewayError {
  const reason = rootMessage(cause);
  return new CausewayError("KUBERNETES_UNREACHABLE", `${facts.server} cannot be reached: ${reason}`, {
    cause,
    hint: unreachableHint(cause),
    details: { ...facts },
  });
}

/** The object does not exist (404). */
export const isNotFound = (error: unknown): boolean => hasCode(error, "KUBERNETES_NOT_FOUND");
/** The object changed since it was read, or a precondition does not hold (409 Conflict). */
export const isConflict = (error: unknown): boolean => hasCode(error, "KUBERNETES_CONFLICT");
/** The object exists already (409 AlreadyExists). */
export const isAlreadyExists = (error: unknown): boolean => hasCode(error, "KUBERNETES_ALREADY_EXISTS");
/** The identity may not do this (403). */
export const isForbidden = (error: unknown): boolean => hasCode(error, "KUBERNETES_FORBIDDEN");
/** The server does not know the identity (401). */
export const isUnauthorized = (error: unknown): boolean => hasCode(error, "KUBERNETES_UNAUTHORIZED");
/** The object breaks rules of its kind (422). */
export const isInvalid = (error: unknown): boolean => hasCode(error, "KUBERNETES_INVALID");
/** True if a resource version or continue token is older than what the server keeps (HTTP 410). */
export const isExpired = (error: unknown): boolean => hasCode(error, "KUBERNETES_EXPIRED");
/** The response has more bytes than the client accepts. */
export const isTooLarge = (error: unknown): boolean => hasCode(error, "KUBERNETES_ANSWER_TOO_LARGE");
/** No answer came: the connection could not be made, or broke. */
export const isUnreachable = (error: unknown): boolean => hasCode(error, "KUBERNETES_UNREACHABLE");
/** The server asks for fewer requests (429). */
export const isTooManyRequests = (error: unknown): boolean => hasCode(error, "KUBERNETES_TOO_MANY_REQUESTS");

/** Whether a body is a meta/v1 Status, as API servers send one with every error. */
export function isStatus(body: unknown): body is Status {
  return typeof body === "object" && body !== null && (body as { kind?: unknown }).kind === "Status";
}

/** The reason of a Status with HTTP 410, as API servers have it. */
const GONE = "Gone";

function codeOf(reason: string): string {
  if (reason === GONE) return "KUBERNETES_EXPIRED";
  const words = reason.replaceAll(/[^A-Za-z0-9]+/g, "_").replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2");
  return `KUBERNETES_${words.toUpperCase()}`;
}

/** The innermost message: the outer ones of the HTTP client only say that a request failed. */
function rootMessage(cause: unknown): string {
  let error = cause;
  while (error instanceof Error && error.cause instanceof Error) error = error.cause;
  if (error instanceof AggregateError && error.errors.length > 0) error = error.errors[0];
  if (!(error instanceof Error)) return String(error);
  return error.message || errorCode(error) || error.name;
}

/** The code that Node gives its errors (ECONNREFUSED…), or "". */
function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}

function unreachableHint(cause: unknown): string {
  const text = `${errorCode(cause)} ${rootMessage(cause)}`;
  if (/certificate|CERT|altname|self.signed|issuer/i.test(text)) {
    return "Check certificate-authority-data and the server name in the kubeconfig: the server's certificate does not match them.";
  }
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return "Check the host name of the server in the kubeconfig.";
  return "Check that the API server runs and that its address in the kubeconfig is right.";
}
