import type { Secret } from "./core.ts";

/** A value of a Secret as text; undefined without the Secret, or without the key. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
