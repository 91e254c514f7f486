/**
 * How a person starts this command again, for advice that can be copied: by npm where npm started it.
 * @example
 * `See: ${ownName()} describe cluster web`
 */
export function ownName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return env["npm_lifecycle_event"] === "causeway" ? "npm run causeway --" : "causeway";
}
