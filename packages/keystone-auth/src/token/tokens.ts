import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  createTokens as createTokenCache,
  type CacheRules,
  type Identify,
  type IdentityClient,
  type TokenVerdict as Verdict,
  type Tokens as TokenCache,
} from "@causeway/openstack";
import type { KubernetesUser } from "../user.ts";
import { identityOf, type IdentityRules } from "./plan-identity.ts";

/** Whose token it is; else why not, and whether Keystone said so (false: it could not be queried). */
export type TokenVerdict = Verdict<KubernetesUser>;

/** How tokens are checked and remembered. */
export interface TokenOptions extends Partial<CacheRules>, IdentityRules {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Tokens that are remembered at most. Default 10,000. */
  readonly entries?: number;
  /** Tokens that may wait for Keystone at the same time. Default 500. */
  readonly waiting?: number;
  /** Milliseconds that a review waits for Keystone. Default 10,000. */
  readonly timeout?: number;
}

/** Checks tokens at Keystone, and remembers the result. */
export type Tokens = TokenCache<KubernetesUser>;

/** Tokens of users of Kubernetes: each user has the names of the Keystone groups. */
export function createTokens(client: IdentityClient, { metrics, projects, domains, ...options }: TokenOptions): Tokens {
  const { log } = options;
  const rules: IdentityRules = { projects, domains };
  const identify: Identify<KubernetesUser> = async (facts, token, signal) => {
    // What no group could change costs no second request.
    const early = identityOf(facts, [], rules);
    if ("refused" in early) return early;
    const groups = await client.groups(token, facts.user.id, { signal });
    const verdict = identityOf(facts, groups, rules);
    if ("user" in verdict && verdict.dropped.length > 0)
      log.warn(
        'groups of Keystone that begin with "system:" or "kubeadm:", have the form of an id, or are of other domains, are left out',
        { user: facts.user.id, groups: verdict.dropped },
      );
    return verdict;
  };
  return createTokenCache(client, { ...options, identify, count: resultCounter(metrics) });
}

function resultCounter(metrics: Metrics | undefined): (result: string) => void {
  const counter = metrics?.counter({
    name: "causeway_keystone_auth_tokens_total",
    help: "Reviews of tokens: from the cache, sent to Keystone, shared with one under way, malformed, during an outage, too many waiting.",
    labels: ["result"],
  });
  return (result) => counter?.increment({ result });
}
