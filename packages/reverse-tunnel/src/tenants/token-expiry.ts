/**
 * When a token expires (ms since epoch), by its claim `exp`; undefined: it is no JWT, or has none. The claim is read
 * and not judged: ask only about tokens that the API server accepted. Source: RFC 7519, 4.1.4.
 */
export function tokenExpiry(token: string): number | undefined {
  const [, payload, signature, ...more] = token.split(".");
  if (payload === undefined || signature === undefined || more.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const exp = typeof claims === "object" && claims !== null && "exp" in claims ? claims.exp : undefined;
    return typeof exp === "number" && Number.isFinite(exp) ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
