import { canonicalJson, messageOf } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { record, records, text } from "../json/json.ts";
import { accountTokens } from "./account-tokens.ts";
import type { TokenFacts } from "../contract/identity.ts";
import { bootstrapTokenUser } from "./bootstrap-tokens.ts";
import type {
  AuthenticationOptions,
  ExternalAuthenticationOptions,
  ExternalAuthenticator,
  ExternalAuthenticators,
} from "../contract/authentication.ts";
import { invalidAuthentication, issuerOfOptions, readIssuers } from "./oidc/configuration.ts";
import { jwtAuthenticator, type VerifyJwt } from "./oidc/authenticator.ts";
import { issuerKeys, type Keys } from "./oidc/provider.ts";
import { reachOf } from "./oidc/reach.ts";
import { authenticated } from "../contract/user.ts";
import { webhookTokens } from "./webhook-tokens.ts";
import type { Tokens } from "../contract/identity.ts";

type Ask = (token: string, audiences: readonly string[]) => Promise<TokenFacts | undefined>;

/** What knows tokens by connections, caches and budgets of their own. */
interface Remotes {
  readonly webhook: ReturnType<typeof webhookTokens> | undefined;
  readonly external: ExternalAuthenticator | undefined;
}

/** What remains where options of a cluster's tokens change. */
interface Kept {
  readonly remotes?: Remotes | undefined;
  /** Of issuers, by what they are fetched with. */
  readonly keys?: ReadonlyMap<string, Keys> | undefined;
}

/** Tokens of a cluster whose options may change. */
export interface ClusterTokens extends Tokens {
  readonly remotes: Remotes;
  readonly keys: ReadonlyMap<string, Keys>;
}

/** Is what has connections of its own the same by both? Then it serves on: other issuers empty no cache of it. */
export function haveSameRemotes(a: AuthenticationOptions, b: AuthenticationOptions): boolean {
  return canonicalJson([a.webhook, a.external]) === canonicalJson([b.webhook, b.external]);
}

/**
 * Tokens of service accounts, bootstrap tokens, those of the issuers configured, of an external authenticator, and the
 * webhook's, in this order. `kept`: what is known of issuers, and the last two, where they are open already. Throws
 * AUTHENTICATION_CONFIG_INVALID, and what a webhook's kubeconfig can.
 */
export function clusterTokens(
  cluster: Cluster,
  options: AuthenticationOptions = {},
  authenticators: ExternalAuthenticators = {},
  kept: Kept = {},
): ClusterTokens {
  // What is refused opens no connection.
  const admitsAnonymous = anonymousOf(options);
  const own = [cluster.issuer];
  const accounts = accountTokens(cluster);
  const reach = options.issuerNetworks && reachOf(options.issuerNetworks);
  const keys = new Map<string, Keys>();
  const issuers = issuersOf(cluster, options).map((issuer) => {
    const { url, discoveryUrl, certificateAuthority } = issuer;
    const id = canonicalJson([url, discoveryUrl, certificateAuthority, options.issuerNetworks]);
    const known = kept.keys?.get(id) ?? issuerKeys(issuer, cluster.clock, reach);
    keys.set(id, known);
    return jwtAuthenticator(issuer, cluster.clock, known);
  });
  const remotes = kept.remotes ?? {
    webhook: options.webhook && webhookTokens(options.webhook, cluster),
    external: options.external && externalAuthenticator(cluster, options.external, authenticators),
  };
  const { webhook, external } = remotes;
  const asks: readonly Ask[] = [
    (token, audiences) => accounts.verify(token, audiences),
    (token, audiences) => Promise.resolve(bootstrapFacts(cluster, token, audiences)),
    ...issuers.map(
      (verify): Ask =>
        (token, audiences) =>
          oidcFacts(verify, token, { own, audiences }),
    ),
    ...(external ? [externalAsk(external, own)] : []),
    ...(webhook ? [(token: string, audiences: readonly string[]) => webhook.verify(token, audiences)] : []),
  ];
  return {
    remotes,
    keys,
    async verify(token, audiences = own) {
      const errors: string[] = [];
      for (const ask of asks) {
        try {
          const facts = await ask(token, audiences);
          if (facts) return facts;
        } catch (error) {
          errors.push(messageOf(error));
        }
      }
      const unknown = "invalid bearer token";
      return { error: errors.length === 0 ? unknown : `[${[unknown, ...errors].join(", ")}]` };
    },
    admitsAnonymous,
    close: () => {
      webhook?.close();
      external?.close();
    },
  };
}

function externalAuthenticator(
  { clock, log }: Cluster,
  { type, settings }: ExternalAuthenticationOptions,
  authenticators: ExternalAuthenticators,
): ExternalAuthenticator {
  const make = Object.hasOwn(authenticators, type) ? authenticators[type] : undefined;
  if (make === undefined) throw invalidAuthentication("external.type", `this server has no authenticator "${type}"`);
  return make(settings, { clock, log });
}

function externalAsk(external: ExternalAuthenticator, own: readonly string[]): Ask {
  return async (token, audiences) => {
    const matching = forSelf(own, audiences);
    const found = matching.length > 0 ? await external.verify(token) : undefined;
    if (found === undefined) return undefined;
    const { username, uid, groups, extra } = found;
    const user = {
      name: username,
      groups,
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    };
    return { user: authenticated(user), audiences: matching };
  };
}

function issuersOf({ issuer }: Cluster, { configuration, oidc }: AuthenticationOptions) {
  const issuers = configuration ? readIssuers(configuration, [issuer]) : [];
  if (oidc && issuers.length > 0) throw invalidAuthentication("oidc", "issuers are in the configuration already");
  return oidc ? [issuerOfOptions(oidc)] : issuers;
}

/** What knows nothing of audiences means this server itself. */
function forSelf(own: readonly string[], audiences: readonly string[]): readonly string[] {
  return audiences.filter((a) => own.includes(a));
}

function bootstrapFacts(cluster: Cluster, token: string, audiences: readonly string[]): TokenFacts | undefined {
  const matching = forSelf([cluster.issuer], audiences);
  const user = matching.length > 0 ? bootstrapTokenUser(cluster, token) : undefined;
  return user && { user: authenticated(user), audiences: matching };
}

async function oidcFacts(
  verify: VerifyJwt,
  token: string,
  { own, audiences }: { own: readonly string[]; audiences: readonly string[] },
): Promise<TokenFacts | undefined> {
  const matching = forSelf(own, audiences);
  if (matching.length === 0) return undefined;
  const user = await verify(token);
  return user === "foreign" ? undefined : { user, audiences: matching };
}

function anonymousOf({ configuration, anonymous }: AuthenticationOptions): (path: string) => boolean {
  const given = configuration?.["anonymous"];
  if (given === undefined) return () => anonymous !== false;
  if (anonymous !== undefined) throw invalidAuthentication("anonymous", "it is set next to the configuration too");
  const { enabled, conditions } = record(given);
  const paths = records(conditions).map((c) => text(c["path"]));
  if (enabled !== true && paths.length > 0) {
    throw invalidAuthentication("anonymous.conditions", "enabled should be set to true when conditions are defined");
  }
  if (enabled !== true) return () => false;
  return (path) => paths.length === 0 || paths.includes(path);
}
