/** Shorter texts stand in too many words to be taken out. */
const SHORTEST = 3;

/** The text without the secrets, in whatever of the usual spellings the other side repeats them. */
export function redacted(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= SHORTEST).flatMap(spellings);
  // The longest first: one secret may stand in another.
  known.sort((a, b) => b.length - a.length);
  return known.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}

function spellings(secret: string): string[] {
  const html = secret
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  const spaces = secret.replaceAll(/\s+/g, " ").trim();
  return [
    secret,
    spaces,
    html,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    Buffer.from(secret).toString("base64"),
    Buffer.from(secret).toString("base64url"),
  ].filter((spelling) => spelling.length >= SHORTEST);
}
