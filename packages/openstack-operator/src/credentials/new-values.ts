import { randomBytes } from "node:crypto";
import type { Component } from "../model/component.ts";
import { FIXED, KEY_GENERATION, wantedKeys, type Credentials } from "./credentials.ts";

/** A password: letters and digits only, so that no file, URL or shell needs to quote it. */
function newValue(key: string): string {
  if (FIXED.some((each) => each === key)) return randomBytes(16).toString("hex");
  if (key === "barbican.kek") return randomBytes(32).toString("base64");
  return randomBytes(24).toString("hex");
}

/** The credentials with a value for each key that lacks one, and without accounts of generations that are over. */
export function completed(credentials: Credentials, components: readonly Component[]): Credentials {
  const values: Record<string, string> = {};
  for (const key of wantedKeys(components, credentials.accounts))
    values[key] = credentials.values[key] ?? newValue(key);
  for (const [key, value] of Object.entries(credentials.values)) {
    const of = /\.(?:database|broker|identity)\.(\d+)$/.exec(key)?.[1];
    if (of === undefined || credentials.accounts.includes(Number(of))) values[key] ??= value;
  }
  return { ...credentials, values };
}

/**
 * Keys whose replacement loses nothing: what memcached has under the old one is not found and made again, and metadata
 * is requested again. Heat's key remains: its own program encrypts parameters and properties with another one, and
 * neither trusts nor passwords of stacks.
 */
const REPLACED = ["memcached.key", "metadata.secret"] as const;

/** New values for the keys that can be replaced at once; accounts are left as they are. */
export function withReplacedKeys(credentials: Credentials, generation: number): Credentials {
  const replaced = Object.fromEntries(REPLACED.map((key) => [key, newValue(key)]));
  return { ...credentials, values: { ...credentials.values, ...replaced, [KEY_GENERATION]: String(generation) } };
}
