import type { Secret } from "./core.ts";

/** A value of a Secret as text; undefined without the Secret, or without the key. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}

/** Texts as the `data` of a Secret: `secretData({ password: "s" })` is `{ password: "cw==" }`. */
export function secretData(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, "utf8").toString("base64")]),
  );
}
