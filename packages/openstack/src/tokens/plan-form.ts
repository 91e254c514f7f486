/** Keystone's Fernet and JWS tokens have a few hundred characters; with many roles and groups a few thousand. */
const LONGEST = 8_192;
const SHORTEST = 16;

/**
 * Why a text cannot be a token of Keystone, or undefined. A token of another issuer, such as one of a service account,
 * is a secret that must not be sent to Keystone, and what is no token at all must not use up the budget.
 */
export function notKeystoneToken(token: string): string | undefined {
  if (token.length < SHORTEST || token.length > LONGEST || !/^[\w=.~-]+$/.test(token))
    return "it is not a token of Keystone";
  const parts = token.split(".");
  if (parts.length === 1) return undefined;
  return parts.length === 3 && hasOpenStackClaims(parts[1] ?? "") ? undefined : "it is a token of another issuer";
}

const AHEAD = 5 * 60_000;
const OLDEST = 366 * 86_400_000;
const UUID = /^[\da-f]{32}$/i;

/**
 * Whether a text that may be a token of Keystone is likely one: a JWS or UUID token, or a Fernet token whose time of
 * issue can be true. Keystone alone knows; this decides who waits for whom.
 */
export function isLikelyToken(token: string, now: number): boolean {
  if (token.includes(".") || UUID.test(token)) return true;
  const head = Buffer.from(token.slice(0, 12), "base64url");
  if (head.length < 9 || head[0] !== 0x80) return false;
  const issued = Number(head.readBigUInt64BE(1)) * 1000;
  return issued <= now + AHEAD && issued >= now - OLDEST;
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
