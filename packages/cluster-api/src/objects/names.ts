import { createHash } from "node:crypto";
import { canonicalJson } from "@causeway/foundation";

/**
 * Letters of generated suffixes: Kubernetes' own choice, without vowels and similar letters, so that no words result.
 */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const longestName = 63;

/** A suffix that is always the same for the same seed: a create that is repeated meets what it made before. */
export function suffixOf(seed: string, length = 5): string {
  const digest = createHash("sha256").update(seed).digest();
  return [...digest.subarray(0, length)].map((byte) => alphabet[byte % alphabet.length]).join("");
}

/** `base-suffix` of at most 63 characters; a base that is too long is cut. */
export function suffixedName(base: string, suffix: string): string {
  const cut = base.slice(0, longestName - suffix.length - 1).replace(/[-.]+$/, "");
  return `${cut}-${suffix}`;
}

/**
 * A name from a machineNaming template: `{{ .random }}` is the suffix, `{{ .cluster.name }}`, `{{ .machineSet.name }}`
 * and the like come from `values`. The part before the suffix is cut when the name would pass 63 characters. A template
 * whose name would be without the suffix gets it at the end: every name of a set is another one.
 */
export function nameFromTemplate(template: string, values: Readonly<Record<string, string>>, suffix: string): string {
  const filled = template.replaceAll(/\{\{\s*\.([\w.]+)\s*\}\}/g, (whole, path: string) =>
    path === "random" ? suffix : (values[path] ?? whole),
  );
  if (filled.length <= longestName) return filled.includes(suffix) ? filled : suffixedName(filled, suffix);
  return filled.endsWith(suffix) ? filled.slice(0, longestName - suffix.length) + suffix : suffixedName(filled, suffix);
}

/** Names that are in use: whether one is. */
export type NamesInUse = Pick<ReadonlySet<string>, "has">;

/** The hash of any JSON value, the same whatever the order of its keys. */
export function fingerprint(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 10);
}
