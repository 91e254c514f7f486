import { createHash } from "node:crypto";
import type { ExtensionConfig } from "@causeway/api";
import { canonicalJson, type CausewayError } from "@causeway/foundation";

type Outcome = { readonly response: Readonly<Record<string, unknown>> } | { readonly error: CausewayError };

interface Kept {
  readonly outcome: Outcome;
  readonly until: number;
  readonly size: number;
}

/** Characters of responses that are kept at most, in all. */
const mostText = 16 * 1024 * 1024;
const mostKept = 5_000;

/** Responses of extensions to equal requests, for a time: a reconcile has several rounds, and each computes again. */
export class KeptResponses {
  readonly #kept = new Map<string, Kept>();
  #size = 0;

  /** The response to an equal request, if that was a short time ago. */
  find(key: string, now: number): Outcome | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    if (found.until > now) return found.outcome;
    this.#drop(key);
    return undefined;
  }

  /** `until`: milliseconds since the epoch. */
  keep(key: string, outcome: Outcome, until: number): void {
    this.#drop(key);
    const size = "response" in outcome ? JSON.stringify(outcome.response).length : outcome.error.message.length;
    this.#kept.set(key, { outcome, until, size: size + key.length });
    this.#size += size + key.length;
    for (const [oldest] of this.#kept) {
      if (this.#size <= mostText && this.#kept.size <= mostKept) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}

/** What a request is known by: an extension whose config changes is called again. */
export function requestKey(
  { metadata: { uid, name, generation } }: ExtensionConfig,
  path: string,
  body: object,
): string {
  const digest = createHash("sha256").update(canonicalJson(body)).digest("hex");
  return `${uid ?? name}/${generation ?? 0}/${path}/${digest}`;
}
