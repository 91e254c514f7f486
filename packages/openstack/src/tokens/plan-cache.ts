/** What is known of one token; instants in milliseconds since the epoch. */
export type KnownToken<User> =
  | {
      readonly user: User;
      readonly expires: number;
      readonly checked: number;
      /** When an early check was begun, whose result may have been lost. */
      readonly tried?: number;
    }
  | { readonly refused: string; readonly checked: number };

/** How many answers about tokens are kept, and for how long. */
export interface CacheRules {
  /** Milliseconds after which Keystone is queried again whether the token was revoked. */
  readonly recheck: number;
  /**
   * Milliseconds after which Keystone is queried before `recheck`, as far as it has time for it: so soon a revocation
   * is found usually. Undefined: it is not.
   */
  readonly soon?: number | undefined;
  /** Milliseconds since the last check for which a token remains valid while Keystone is away. */
  readonly outage: number;
  /** Milliseconds for which a refused token is not sent to Keystone again. */
  readonly refusal: number;
}

/** "use": what is known answers; "ask": Keystone has to; "check": it is to be queried, and what is known is enough. */
export type CacheVerdict = "use" | "check" | "ask";

/** Whether what is known of a token is enough, or Keystone has to be queried. */
export function freshness<User>(known: KnownToken<User> | undefined, now: number, rules: CacheRules): CacheVerdict {
  if (known === undefined) return "ask";
  if ("refused" in known) return now < known.checked + rules.refusal ? "use" : "ask";
  if (now >= known.expires || now >= known.checked + rules.recheck) return "ask";
  const { soon } = rules;
  return soon !== undefined && now >= Math.max(known.checked, known.tried ?? 0) + soon ? "check" : "use";
}

/** What a review says while Keystone cannot be queried: the user who was known, or undefined. */
export function duringOutage<User>(
  known: KnownToken<User> | undefined,
  now: number,
  rules: CacheRules,
): User | undefined {
  if (known === undefined || "refused" in known) return undefined;
  return now < known.expires && now < known.checked + rules.outage ? known.user : undefined;
}
