import { CausewayError, hasCode, messageOf } from "@causeway/foundation";
import { isSameCheck } from "../cipher/plan-check.ts";

/**
 * How a reading of a key ended. "refused": what came was no key; "changed": it was another key than the secret had
 * before.
 */
export type ReadOutcome = "ok" | "failed" | "refused" | "changed";

const LENGTHS = [16, 24, 32];

/**
 * Why a payload is not used, or undefined. `before` is the check value of an earlier reading: the payload of a secret
 * never changes.
 */
export function problemOf(
  id: string,
  { length, check }: { readonly length: number; readonly check: Uint8Array },
  before: Uint8Array | undefined,
): CausewayError | undefined {
  if (!LENGTHS.includes(length))
    return new CausewayError("KMS_KEY_INVALID", `The secret ${id} in Barbican has ${length} bytes, not 16, 24 or 32.`, {
      hint: "Create a symmetric secret of 256 bits: `openstack secret order create key --algorithm aes --bit-length 256`.",
    });
  if (before === undefined || isSameCheck(check, before)) return undefined;
  return new CausewayError(
    "KMS_KEY_CHANGED",
    `Barbican gave another key for the secret ${id} than before, which is not used: a secret's payload never changes.`,
    {
      hint: "Check that Barbican itself responds at its address. Before a restart of the plugin: what it read first may be the wrong one.",
    },
  );
}

/** The outcome of a reading that threw. */
export function outcomeOf(error: unknown): ReadOutcome {
  if (hasCode(error, "KMS_KEY_CHANGED")) return "changed";
  return hasCode(error, "KMS_KEY_INVALID") || hasCode(error, "OPENSTACK_UNEXPECTED_ANSWER") ? "refused" : "failed";
}

const TITLES: Readonly<Record<string, string>> = { OPENSTACK_NOT_FOUND: "Not Found", OPENSTACK_FORBIDDEN: "Forbidden" };

/**
 * Barbican's own words that there is no such secret for us, `{"code": 404, "title": "Not Found", "description": "Secret
 * not found."}`: a proxy in front of it responds 404, too.
 */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof CausewayError)) return false;
  const { serviceType, serviceMessage } = error.details;
  return (
    TITLES[error.code] !== undefined && serviceType === TITLES[error.code] && /\bsecret\b/i.test(String(serviceMessage))
  );
}

/** The error where no key is held any more, or none yet. */
export function lost(id: string, error: unknown): unknown {
  if (isFinal(error)) return notFound(id, error);
  if (hasCode(error, "KMS_KEY_CHANGED") || hasCode(error, "KMS_KEY_INVALID")) return error;
  return new CausewayError(
    "KMS_UNAVAILABLE",
    `Barbican cannot be reached, and the key ${id} is not cached: ${messageOf(error)}`,
    {
      cause: error,
      hint: "Check that Keystone and Barbican are up and reachable from here, and that nothing else responds in their place.",
    },
  );
}

/** The error for a secret that Barbican does not have, or does not show to this user. */
export function notFound(id: string, cause: unknown): CausewayError {
  return new CausewayError("KMS_KEY_NOT_FOUND", `The secret ${id} is not in Barbican, or not for these credentials.`, {
    cause,
    hint: "Restore the secret: data that was encrypted with it cannot be read without it. See its ACL for another user's access.",
  });
}
