import { matchesRule, type RequestFacts } from "./match-rule.ts";
import type { Backend, Frontend, Policy } from "./model.ts";

/** What becomes of a request. */
export type Decision =
  | { readonly type: "deny" }
  | { readonly type: "redirect"; readonly code: number; readonly location: string }
  | { readonly type: "pool"; readonly pool: Backend }
  /** No policy matches, and the listener has no default pool: 503. */
  | { readonly type: "unavailable" };

/**
 * What the amphora's HAProxy does with a request. Octavia writes a REJECT as `http-request deny`, both redirects as
 * `redirect`, a REDIRECT_TO_POOL as `use_backend`, in the order of positions; HAProxy evaluates these three kinds one
 * after the other.
 */
export function decide({ policies, defaultPool }: Frontend, request: RequestFacts): Decision {
  const first = (actions: readonly string[]): Policy | undefined =>
    policies.find(({ action, rules }) => actions.includes(action) && rules.every((rule) => matchesRule(rule, request)));
  if (first(["REJECT"])) return { type: "deny" };
  const redirect = first(["REDIRECT_TO_URL", "REDIRECT_PREFIX"]);
  if (redirect) return { type: "redirect", code: redirect.code, location: locationOf(redirect, request) };
  const pool = first(["REDIRECT_TO_POOL"])?.pool ?? defaultPool;
  return pool ? { type: "pool", pool } : { type: "unavailable" };
}

/** A prefix is put before path and query; the prefix "/" adds nothing. */
function locationOf({ action, target }: Policy, request: RequestFacts): string {
  if (action === "REDIRECT_TO_URL") return target;
  const local = request.target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, "");
  return target === "/" ? local : target + local;
}
