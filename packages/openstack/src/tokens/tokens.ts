import { createHmac, randomBytes } from "node:crypto";
import { CausewayError, hasCode, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { IdentityClient } from "../identity-client.ts";
import type { TokenFacts } from "../types/identity.ts";
import { duringOutage, freshness, type CacheRules, type KnownToken } from "./plan-cache.ts";
import { notKeystoneToken } from "./plan-form.ts";

/** Who a token stands for; else why not, and whether Keystone said so (false: it could not be asked). */
export type TokenVerdict<User> =
  | { readonly user: User; readonly expires: number }
  | { readonly refused: string; readonly final: boolean };

/** Whom a valid token stands for, or why it is refused. It may read more from Keystone. */
export type Identify<User> = (
  facts: TokenFacts,
  token: string,
  signal: AbortSignal,
) => Promise<{ readonly user: User } | { readonly refused: string }>;

export interface TokenOptions<User> extends Partial<CacheRules> {
  readonly identify: Identify<User>;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts a result: "cached", "asked", "shared", "malformed", "outage", "busy". */
  readonly count?: (result: string) => void;
  /** Tokens that are remembered at most. Default 10,000. */
  readonly entries?: number;
  /** Tokens that may wait for Keystone at the same time. Default 500. */
  readonly waiting?: number;
  /** Milliseconds that a review waits for Keystone. Default 10,000. */
  readonly timeout?: number;
}

const RULES: CacheRules = { recheck: 60_000, outage: 600_000, refusal: 10_000 };

/** Checks tokens at Keystone, and remembers the result. */
export interface Tokens<User> {
  verify(token: string): Promise<TokenVerdict<User>>;
  readonly size: number;
}

/**
 * Tokens are kept as digests under a key of this process, so that neither a dump of its memory nor a log shows one. One request is under way for each
 * token, for however many reviews. What is remembered is bounded: the token that was not used for the longest time leaves first.
 */
export function createTokens<User>(client: IdentityClient, options: TokenOptions<User>): Tokens<User> {
  const { clock, log, entries = 10_000, waiting = 500, timeout = 10_000 } = options;
  const rules: CacheRules = {
    recheck: options.recheck ?? RULES.recheck,
    outage: options.outage ?? RULES.outage,
    refusal: options.refusal ?? RULES.refusal,
  };
  const count = options.count ?? (() => {});
  const salt = randomBytes(32);
  const known = new Map<string, KnownToken<User>>();
  const asking = new Map<string, Promise<TokenVerdict<User>>>();

  const remember = (id: string, fact: KnownToken<User>): void => {
    known.delete(id);
    known.set(id, fact);
    const [oldest] = known.keys();
    if (known.size > entries && oldest !== undefined) known.delete(oldest);
  };

  const ask = async (id: string, token: string): Promise<TokenVerdict<User>> => {
    try {
      const fact = await lookUp(client, token, { ...options, timeout });
      remember(id, fact);
      if ("refused" in fact) log.info("a token was refused", { tokenId: id.slice(0, 12), reason: fact.refused });
      return verdictOf(fact);
    } catch (error) {
      const user = duringOutage(known.get(id), clock.now(), rules);
      const reason = shortReason(error);
      log.warn("Keystone cannot be asked about a token", {
        tokenId: id.slice(0, 12),
        cached: user !== undefined,
        reason,
      });
      count("outage");
      if (user !== undefined) return { user, expires: clock.now() + rules.refusal };
      return { refused: `Keystone cannot be asked about this token now: ${reason}`, final: false };
    }
  };

  return {
    async verify(token) {
      const malformed = notKeystoneToken(token);
      if (malformed !== undefined) {
        count("malformed");
        return { refused: malformed, final: true };
      }
      const id = createHmac("sha256", salt).update(token).digest("hex");
      const fact = known.get(id);
      if (fact !== undefined && freshness(fact, clock.now(), rules) === "use") {
        count("cached");
        remember(id, fact);
        return verdictOf(fact);
      }
      const underWay = asking.get(id);
      if (underWay !== undefined) {
        count("shared");
        return underWay;
      }
      if (asking.size >= waiting) {
        count("busy");
        const user = duringOutage(fact, clock.now(), rules);
        if (user !== undefined) return { user, expires: clock.now() + rules.refusal };
        return { refused: "too many tokens wait for Keystone now", final: false };
      }
      count("asked");
      const asked = ask(id, token).finally(() => asking.delete(id));
      asking.set(id, asked);
      return asked;
    },
    get size() {
      return known.size;
    },
  };
}

function verdictOf<User>(fact: KnownToken<User>): TokenVerdict<User> {
  if ("refused" in fact) return { refused: fact.refused, final: true };
  return { user: fact.user, expires: fact.expires };
}

/** Throws when Keystone could not be asked. */
async function lookUp<User>(
  client: IdentityClient,
  token: string,
  options: TokenOptions<User> & { readonly timeout: number },
): Promise<KnownToken<User>> {
  const { clock, timeout, identify } = options;
  const over = new AbortController();
  const done = new AbortController();
  clock.sleep(timeout, done.signal).then(
    () => over.abort(new CausewayError("KEYSTONE_TIMEOUT", `Keystone did not respond within ${timeout / 1000} s.`)),
    () => {},
  );
  try {
    const facts = await client.validate(token, { signal: over.signal });
    const checked = clock.now();
    const expires = Date.parse(facts.expires_at);
    if (!(checked < expires)) return { refused: "the token has expired", checked };
    const verdict = await identify(facts, token, over.signal);
    return "refused" in verdict ? { refused: verdict.refused, checked } : { user: verdict.user, expires, checked };
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === undefined) throw error;
    return { refused, checked: clock.now() };
  } finally {
    done.abort();
  }
}

/** Keystone's own word that the token is of no use. */
function refusalOf(error: unknown): string | undefined {
  if (hasCode(error, "OPENSTACK_UNAUTHORIZED") || hasCode(error, "OPENSTACK_NOT_FOUND"))
    return "Keystone does not accept the token: it is unknown, expired or revoked";
  if (hasCode(error, "OPENSTACK_FORBIDDEN")) return "the token may not read its own user's groups in Keystone";
  return undefined;
}

/** Without what Keystone responded: it may repeat a token in ways that no filter knows. */
function shortReason(error: unknown): string {
  if (hasCode(error, "KEYSTONE_TIMEOUT")) return messageOf(error);
  if (hasCode(error, "OPENSTACK_UNREACHABLE")) return "it is unreachable";
  if (hasCode(error, "OPENSTACK_RATE_LIMITED")) return "it limits the rate of requests";
  return "it failed";
}
