/** Shorter texts are part of too many words to be replaced wherever they occur. */
const SHORTEST = 6;
const REPLACEMENT = "[redacted]";

/**
 * The text without the secrets, in whatever of the usual spellings the other side repeats them. A secret of fewer than
 * six characters is replaced only where it is the whole value of a JSON field: elsewhere its letters are part of other
 * words.
 */
export function redacted(text: string, secrets: readonly string[]): string {
  const known = secrets.flatMap(spellings).filter((spelling) => spelling.length >= SHORTEST);
  // The longest first: one secret may be part of another.
  known.sort((a, b) => b.length - a.length);
  const rest = known.reduce((left, secret) => left.replaceAll(secret, REPLACEMENT), text);
  return secrets.filter(isShort).reduce((left, secret) => withoutField(left, secret), rest);
}

/** A parsed JSON body without the secrets; its shape does not change. */
export function redactedBody(body: unknown, secrets: readonly string[]): unknown {
  if (typeof body === "string") return secrets.includes(body) ? REPLACEMENT : redacted(body, secrets);
  if (Array.isArray(body)) return body.map((item: unknown) => redactedBody(item, secrets));
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [redacted(key, secrets), redactedBody(value, secrets)]),
  );
}

function isShort(secret: string): boolean {
  return secret !== "" && secret.length < SHORTEST;
}

/** In JSON that is part of a text, its quotes may be escaped. */
function withoutField(text: string, secret: string): string {
  const quoted = JSON.stringify(secret).slice(1, -1);
  return ["", " "].reduce(
    (rest, space) =>
      rest
        .replaceAll(`":${space}"${quoted}"`, `":${space}"${REPLACEMENT}"`)
        .replaceAll(`\\":${space}\\"${quoted}\\"`, `\\":${space}\\"${REPLACEMENT}\\"`),
    text,
  );
}

function spellings(secret: string): string[] {
  const html = secret
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  const spaces = secret.replaceAll(/\s+/g, " ").trim();
  const plain = [
    secret,
    spaces,
    html,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
  ].filter((spelling) => spelling.length >= SHORTEST);
  // Of a short secret, too, these are no word of another text.
  const encoded = isShort(secret)
    ? []
    : [Buffer.from(secret).toString("base64"), Buffer.from(secret).toString("base64url")];
  return [...plain, ...encoded];
}
