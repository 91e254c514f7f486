import { createHmac, randomBytes } from "node:crypto";
import { CausewayError, hasCode, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { IdentityClient } from "../identity-client.ts";
import type { TokenFacts } from "../types/identity.ts";
import { duringOutage, freshness, type CacheRules, type KnownToken } from "./plan-cache.ts";
import { isLikelyToken, notKeystoneToken } from "./plan-form.ts";
import { Pace } from "./pace.ts";
import { Turns } from "./turns.ts";

/** Whose token it is; else why not, and whether Keystone said so (false: it could not be queried). */
export type TokenVerdict<User> =
  | { readonly user: User; readonly expires: number }
  | { readonly refused: string; readonly final: boolean };

/** The user of a valid token, or why it is refused. It may read more from Keystone. */
export type Identify<User> = (
  facts: TokenFacts,
  token: string,
  signal: AbortSignal,
) => Promise<{ readonly user: User } | { readonly refused: string }>;

/** Where tokens are checked, and how long answers hold. */
export interface TokenOptions<User> extends Partial<CacheRules> {
  readonly identify: Identify<User>;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts a result: "cached", "queried", "shared", "malformed", "outage", "busy". */
  readonly count?: (result: string) => void;
  /** Tokens that are remembered at most. Default 10,000. */
  readonly entries?: number;
  /**
   * Tokens of one kind (known, likely) that may wait for Keystone at the same time. Default 500; 50 of unlikely ones at
   * most.
   */
  readonly waiting?: number;
  /** Checks a second that `soon` may cause, of all tokens together. Default 10. */
  readonly pace?: number;
  /** Milliseconds that a review waits for Keystone. Default 10,000. */
  readonly timeout?: number;
}

/**
 * Of known and of likely tokens, as many as a client's budget has under way; of unlikely ones a few, so that no other
 * waits behind many of them.
 */
const UNDER_WAY = 16;
const UNLIKELY_UNDER_WAY = 2;
const UNLIKELY_WAITING = 50;

/** Checks a second before their time is over, of the 20 requests that a client of Keystone makes. */
const PACE = 10;
/** Milliseconds that a review waits for such a check. */
const EARLY_TIMEOUT = 2_000;

const RULES: CacheRules = { recheck: 60_000, outage: 600_000, refusal: 10_000 };

/** Checks tokens at Keystone, and remembers the result. */
export interface Tokens<User> {
  verify(token: string): Promise<TokenVerdict<User>>;
  readonly size: number;
}

/**
 * Tokens are kept as digests under a key of this process, so that neither a dump of its memory nor a log shows one. One
 * request is under way for each token, for however many reviews. What is remembered is bounded: the token that was not
 * used for the longest time leaves first.
 */
export function createTokens<User>(client: IdentityClient, options: TokenOptions<User>): Tokens<User> {
  const { clock, log, entries = 10_000, waiting = 500, timeout = 10_000 } = options;
  const rules: CacheRules = {
    recheck: options.recheck ?? RULES.recheck,
    outage: options.outage ?? RULES.outage,
    refusal: options.refusal ?? RULES.refusal,
    soon: options.soon,
  };
  const early = new Pace(options.pace ?? PACE, clock);
  const count = options.count ?? (() => {});
  const salt = randomBytes(32);
  const known = new Map<string, KnownToken<User>>();
  const asking = new Map<string, Promise<TokenVerdict<User>>>();
  const turns = {
    known: new Turns({ slots: Math.min(UNDER_WAY, waiting), most: waiting }),
    likely: new Turns({ slots: Math.min(UNDER_WAY, waiting), most: waiting }),
    unlikely: new Turns({ slots: UNLIKELY_UNDER_WAY, most: Math.min(UNLIKELY_WAITING, waiting) }),
  };
  const turnsOf = (id: string, token: string): Turns => {
    if (isValid(known.get(id))) return turns.known;
    return isLikelyToken(token, clock.now()) ? turns.likely : turns.unlikely;
  };

  const remember = (id: string, fact: KnownToken<User>): void => {
    known.delete(id);
    known.set(id, fact);
    const [oldest] = known.keys();
    if (known.size > entries && oldest !== undefined) known.delete(oldest);
  };

  const ask = async (id: string, token: string): Promise<TokenVerdict<User>> => {
    try {
      const wasValid = isValid(known.get(id));
      const fact = await lookUp(client, token, { ...options, timeout, wasValid, turns: turnsOf(id, token) });
      remember(id, fact);
      if ("refused" in fact) log.info("a token was refused", { tokenId: id.slice(0, 12), reason: fact.refused });
      return verdictOf(fact);
    } catch (error) {
      const user = duringOutage(known.get(id), clock.now(), rules);
      const shed = hasCode(error, "KEYSTONE_BUSY");
      const reason = shortReason(error);
      const facts = { tokenId: id.slice(0, 12), cached: user !== undefined, reason };
      // Each token of a flood would be a line otherwise.
      if (shed) log.debug("Keystone was not queried about a token", facts);
      else log.warn("Keystone cannot be queried about a token", facts);
      count(shed || hasCode(error, "KEYSTONE_BUDGET") ? "busy" : "outage");
      if (user !== undefined) return { user, expires: clock.now() + rules.refusal };
      if (shed) return { refused: messageOf(error), final: false };
      return { refused: `Keystone cannot be queried about this token now: ${reason}`, final: false };
    }
  };

  const query = (id: string, token: string): Promise<TokenVerdict<User>> => {
    const asked = ask(id, token).finally(() => asking.delete(id));
    asking.set(id, asked);
    return asked;
  };

  /** Before it has to be checked: a review waits a short time for a slow Keystone, and other reviews do not wait. */
  const checkEarly = async (id: string, token: string, fact: KnownToken<User>): Promise<TokenVerdict<User>> => {
    remember(id, { ...fact, tried: clock.now() });
    const over = new AbortController();
    const asKnown = clock.sleep(EARLY_TIMEOUT, over.signal).then(
      () => verdictOf(fact),
      () => verdictOf(fact),
    );
    return Promise.race([query(id, token), asKnown]).finally(() => over.abort());
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
      const state = freshness(fact, clock.now(), rules);
      if (fact !== undefined && (state === "use" || (state === "check" && (asking.has(id) || !early.take())))) {
        count("cached");
        remember(id, fact);
        return verdictOf(fact);
      }
      if (fact !== undefined && state === "check") return checkEarly(id, token, fact);
      const underWay = asking.get(id);
      if (underWay !== undefined) {
        count("shared");
        return underWay;
      }
      return query(id, token);
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

function isValid<User>(fact: KnownToken<User> | undefined): boolean {
  return fact !== undefined && "user" in fact;
}

interface LookUpOptions<User> extends TokenOptions<User> {
  readonly timeout: number;
  readonly turns: Turns;
  /** Keystone has accepted this token before. */
  readonly wasValid: boolean;
}

/** Throws when Keystone could not be queried. */
async function lookUp<User>(
  client: IdentityClient,
  token: string,
  options: LookUpOptions<User>,
): Promise<KnownToken<User>> {
  const { clock, timeout, identify, turns, wasValid } = options;
  const over = new AbortController();
  const done = new AbortController();
  let sent = false;
  let endTurn = (): void => {};
  const onSent = (): void => {
    if (!sent) options.count?.("queried");
    sent = true;
  };
  clock.sleep(timeout, done.signal).then(
    () => over.abort(timedOut(timeout / 1000, sent)),
    () => {},
  );
  try {
    endTurn = await turns.enter(over.signal);
    const facts = await client.validate(token, { signal: over.signal, onSent });
    const checked = clock.now();
    const expires = Date.parse(facts.expires_at);
    if (!(checked < expires)) return { refused: "the token has expired", checked };
    const verdict = await identify(facts, token, over.signal);
    return "refused" in verdict ? { refused: verdict.refused, checked } : { user: verdict.user, expires, checked };
  } catch (error) {
    const refused = refusalOf(error, wasValid);
    if (refused === undefined) throw error;
    return { refused, checked: clock.now() };
  } finally {
    done.abort();
    endTurn();
  }
}

function timedOut(seconds: number, sent: boolean): CausewayError {
  if (sent) return new CausewayError("KEYSTONE_TIMEOUT", `Keystone did not respond within ${seconds} s.`);
  const message = `the budget for requests to Keystone is used up: the token was not sent within ${seconds} s`;
  return new CausewayError("KEYSTONE_BUDGET", message);
}

/** Of a request that is too long: what is in front of Keystone limits the size of headers in one of these ways. */
const TOO_LONG: readonly unknown[] = [400, 413, 414, 431];

/** Keystone's own word that the token is of no use. */
function refusalOf(error: unknown, wasValid: boolean): string | undefined {
  if (hasCode(error, "OPENSTACK_UNAUTHORIZED") || hasCode(error, "OPENSTACK_NOT_FOUND"))
    return "Keystone does not accept the token: it is unknown, expired or revoked";
  if (hasCode(error, "OPENSTACK_FORBIDDEN")) return "the token may not read its own user's groups in Keystone";
  // Where it was accepted before, something between us and Keystone has changed, not the token.
  if (!wasValid && error instanceof CausewayError && TOO_LONG.includes(error.details["status"]))
    return `Keystone refuses a request with this token (status ${String(error.details["status"])})`;
  return undefined;
}

/** Without what Keystone responded: it may repeat a token in ways that no filter knows. */
function shortReason(error: unknown): string {
  if (hasCode(error, "KEYSTONE_TIMEOUT") || hasCode(error, "KEYSTONE_BUDGET")) return messageOf(error);
  if (hasCode(error, "OPENSTACK_UNREACHABLE")) return "it is unreachable";
  if (hasCode(error, "OPENSTACK_RATE_LIMITED")) return "it limits the rate of requests";
  return "it failed";
}
