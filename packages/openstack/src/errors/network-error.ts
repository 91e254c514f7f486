import { CausewayError, messageOf, type LimitExceeded } from "@causeway/foundation";
import type { CallFacts } from "./openstack-error.ts";

/** System codes after which no byte of the request can have reached the service. */
const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Part of the codes by which Node refuses a certificate. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/;

/** Node refused the service's certificate, or the service ours: nothing was executed. */
export function isCertificateProblem(cause: unknown): boolean {
  return CERTIFICATE.test(systemCode(cause) ?? "");
}

/**
 * The error for a call without a response. Details: `reason` (system code) and `sent` (false: certainly not executed).
 */
export function errorFromNetwork(call: CallFacts, cause: unknown): CausewayError {
  const code = systemCode(cause) ?? "";
  const where = new URL(call.url).origin;
  const sent = !NOT_SENT.has(code) && !CERTIFICATE.test(code);
  const details = { ...call, reason: code, sent };
  if (CERTIFICATE.test(code)) {
    return new CausewayError(
      "OPENSTACK_TLS",
      `${call.service} at ${where} has a certificate that is not trusted: ${messageOf(cause)}`,
      {
        cause,
        hint: "Set cacert (and cert, key) of the cloud to those of its endpoints; set verify: false only for tests.",
        details,
      },
    );
  }
  const what = sent ? "did not answer" : "cannot be reached";
  return new CausewayError("OPENSTACK_UNREACHABLE", `${call.service} at ${where} ${what}: ${messageOf(cause)}`, {
    cause,
    hint: "Check that the address in the catalog or auth_url is correct, and that it is reachable from here.",
    details,
  });
}

/** The error for a call that took longer than its deadline. It may have been executed. */
export function errorFromDeadline(call: CallFacts, milliseconds: number): CausewayError {
  const message = `${call.method} ${call.service} ${new URL(call.url).pathname} had no response within ${milliseconds / 1000} s`;
  return new CausewayError("OPENSTACK_UNREACHABLE", message, { details: { ...call, reason: "DEADLINE", sent: true } });
}

/** The error for a response that is larger or deeper than any of the service: it was not read to its end. */
export function errorFromSize(call: CallFacts, cause: LimitExceeded): CausewayError {
  const what = `${call.method} ${call.service} ${new URL(call.url).pathname}`;
  return new CausewayError("OPENSTACK_ANSWER_TOO_LARGE", `The response to ${what} was not read: ${cause.message}.`, {
    cause,
    hint: "Something other than the service may respond at its address; check auth_url and the catalog's endpoint.",
    details: { ...call, limit: cause.limit, sent: true },
  });
}

/** The error for a create whose response was lost and whose result could not be searched for. */
export function errorOfUnknownOutcome(call: CallFacts, cause: CausewayError): CausewayError {
  const message = `It is unknown whether ${call.method} ${call.service} ${new URL(call.url).pathname} was executed: ${cause.message}`;
  return new CausewayError("OPENSTACK_OUTCOME_UNKNOWN", message, {
    cause,
    hint: "Search for what it may have created before you retry.",
    details: { ...call },
  });
}

function systemCode(error: unknown): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const code: unknown = (e as { code?: unknown }).code;
    if (typeof code === "string") return code;
    if (e instanceof AggregateError) {
      const first: unknown = e.errors[0];
      const inner = systemCode(first);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}
