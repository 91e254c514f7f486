import type { Clock, Log, Metrics } from "@causeway/foundation";
import { createIdentityClient, type IdentityAddress, type CacheRules } from "@causeway/openstack";
import { mapRoles, type RoleMapping } from "./token/plan-identity.ts";
import { createTokens, type TokenVerdict } from "./token/tokens.ts";

/** The Keystone that tokens are checked at, and how long answers hold. */
export interface AuthenticatorOptions extends Partial<CacheRules> {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly userAgent?: string;
  /** Requests to Keystone a second. Default 20. */
  readonly rate?: number;
  /** Ids of the projects whose tokens are accepted. Default: all. */
  readonly projects?: readonly string[];
  /** Ids or names of the domains whose users, projects and groups are accepted. Default: all. */
  readonly domains?: readonly string[];
  /** Read for each review. */
  readonly roleMappings?: () => readonly RoleMapping[];
}

/** Authenticates Keystone tokens. */
export interface Authenticator {
  authenticate(token: string): Promise<TokenVerdict>;
  /** Requests that Keystone has received. */
  readonly calls: number;
  close(): void;
}

/**
 * Authenticates the bearers of tokens of one Keystone.
 *
 * @example const authenticator = createAuthenticator({ name: "cloud", authUrl: "https://identity.example.org/v3" }, {
 * clock: systemClock, log }); const verdict = await authenticator.authenticate(token);
 */
export function createAuthenticator(keystone: IdentityAddress, options: AuthenticatorOptions): Authenticator {
  const { rate = 20, userAgent = "causeway-keystone-auth", roleMappings = () => [] } = options;
  const budget = { rate, burst: rate * 5, inFlight: 16 };
  const { clock, log, metrics } = options;
  const client = createIdentityClient(keystone, { clock, log, userAgent, budget, ...(metrics && { metrics }) });
  const tokens = createTokens(client, options);
  return {
    async authenticate(token) {
      const verdict = await tokens.verify(token);
      return "refused" in verdict ? verdict : { ...verdict, user: mapRoles(verdict.user, roleMappings()) };
    },
    get calls() {
      return client.stats().total;
    },
    close: () => client.close(),
  };
}
