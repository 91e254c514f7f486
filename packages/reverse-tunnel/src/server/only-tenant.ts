import type { DialRules } from "@causeway/foundation";
import { readFile } from "../settings.ts";
import type { TokenRules } from "../tenants/review-token.ts";
import type { TunnelTenant } from "../tenants/tenants.ts";

/** How agents' tokens of a tenant are reviewed. */
export interface TokenSource extends TokenRules {
  readonly kubeconfig: string;
}

/** Makes the review of agents' tokens from the source that a tenant names. */
export type Reviewer = (source: TokenSource) => TunnelTenant["reviewToken"];

/** Streams of a tenant at a time, unless its configuration says another number. */
export const MOST_STREAMS = 1_000;

/** One tenant, of the flags that upstream's server has. @throws TUNNEL_CONFIG_INVALID */
export function onlyTenant(
  flags: {
    readonly udsName: string;
    readonly serverCaCert: string;
    readonly clusterCaCert: string;
    readonly rules: DialRules;
    readonly authentication: TokenSource | undefined;
  },
  review: Reviewer,
): TunnelTenant {
  const { authentication, rules } = flags;
  const reviewToken = authentication && review(authentication);
  const authority = (path: string): string[] => (path === "" ? [] : [readFile(path, "the authority")]);
  return {
    name: "default",
    ...(flags.udsName === "" ? {} : { udsName: flags.udsName }),
    serverAuthorities: authority(flags.serverCaCert),
    agentAuthorities: authority(flags.clusterCaCert),
    serverNames: [],
    ...(reviewToken && { reviewToken }),
    rules,
    maxStreams: MOST_STREAMS,
  };
}
