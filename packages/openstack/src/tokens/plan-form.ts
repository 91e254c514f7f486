/** Keystone's Fernet and JWS tokens have a few hundred characters; with many roles and groups a few thousand. */
const LONGEST = 8_192;
const SHORTEST = 16;

/**
 * Why a text cannot be a token of Keystone, or undefined. A token of another issuer, such as one of a service account, is a secret that must not
 * be sent to Keystone, and what is no token at all must not use up the budget.
 */
export function notKeystoneToken(token: string): string | undefined {
  if (token.length < SHORTEST || token.length > LONGEST || !/^[\w=.~-]+$/.test(token))
    return "it is not a token of Keystone";
  const parts = token.split(".");
  if (parts.length === 1) return undefined;
  return parts.length === 3 && hasOpenStackClaims(parts[1] ?? "") ? undefined : "it is a token of another issuer";
}

/** Keystone's JWS provider puts the methods of authentication under `openstack_methods`. */
function hasOpenStackClaims(payload: string): boolean {
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null && "openstack_methods" in claims;
  } catch {
    return false;
  }
}
