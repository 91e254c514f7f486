import { parseCertificate, type DialRules } from "@causeway/foundation";
import { ownersOf, type AuthorityField } from "./owners.ts";
import { tokenExpiry } from "./token-expiry.ts";

/** A control plane whose connections go through the server, and whose agents connect to it. */
export interface TunnelTenant {
  readonly name: string;
  /** Path of the Unix socket of its API servers. */
  readonly udsName?: string;
  /** PEM: API servers with a certificate of one of these authorities are this tenant's. */
  readonly serverAuthorities: readonly string[];
  /** PEM: agents with a certificate of one of these authorities are this tenant's. */
  readonly agentAuthorities: readonly string[];
  /** TLS server names that its agents connect to; a token names no tenant by itself. */
  readonly serverNames: readonly string[];
  /** Why a token is no agent's of this tenant; undefined: it is. Without it, tokens are refused. */
  readonly reviewToken?: (token: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly rules: DialRules;
  /** Streams at a time. */
  readonly maxStreams: number;
}

/** What a client presented. */
export interface Credentials {
  /** PEM, of a client that proved to have its key. */
  readonly certificate?: string;
  readonly token?: string;
  /** The TLS server name that it connected to. */
  readonly serverName?: string;
}

/** The tenant of a client, or why it is none's. */
export type Identified =
  | {
      readonly tenant: TunnelTenant;
      /** When the first of the credentials expires (ms since epoch); undefined: they do not say. */
      readonly expires?: number | undefined;
    }
  | { readonly refusal: string };

/** The tenant of an agent: by its certificate, or by the token that the named tenant's API server knows. */
export async function identifyAgent(
  tenants: readonly TunnelTenant[],
  { certificate, token, serverName }: Credentials,
  context: { readonly now: number; readonly signal: AbortSignal },
): Promise<Identified> {
  const byCertificate =
    certificate === undefined ? undefined : ownerOf(tenants, "agentAuthorities", certificate, context.now);
  if (byCertificate && "refusal" in byCertificate) return byCertificate;
  const named = tenants.filter((tenant) => serverName !== undefined && tenant.serverNames.includes(serverName));
  const candidate = byCertificate?.tenant ?? named[0] ?? (tenants.length === 1 ? tenants[0] : undefined);
  if (!candidate) return { refusal: "the certificate, server name and token name no tenant" };
  if (token === undefined || !candidate.reviewToken) {
    if (byCertificate) return byCertificate;
    // A tenant without any authority and token review is one of a server that upstream would run without
    // authentication.
    const isOpen = candidate.agentAuthorities.length === 0 && !candidate.reviewToken && tenants.length === 1;
    return isOpen ? { tenant: candidate } : { refusal: "neither a certificate nor a token was presented" };
  }
  const refusal = await candidate.reviewToken(token, context.signal);
  if (refusal !== undefined) return { refusal };
  const all = [tokenExpiry(token), byCertificate?.expires].filter((each) => each !== undefined);
  return { tenant: candidate, expires: all.length === 0 ? undefined : Math.min(...all) };
}

/** The tenant of an API server, by its certificate. */
export function identifyServer(tenants: readonly TunnelTenant[], certificate: string, now: number): Identified {
  return ownerOf(tenants, "serverAuthorities", certificate, now);
}

function ownerOf(
  tenants: readonly TunnelTenant[],
  field: AuthorityField,
  certificate: string,
  now: number,
): Identified {
  const owners = ownersOf(tenants, field, certificate);
  const [owner] = owners;
  if (!owner) return { refusal: "no tenant has the authority of the certificate" };
  if (owners.length > 1) {
    return {
      refusal: `tenants ${owners.map(({ name }) => name).join(" and ")} share the authority of the certificate`,
    };
  }
  const { validFromDate, validToDate } = parseCertificate(certificate);
  const expires = validToDate.getTime();
  if (now < validFromDate.getTime() || now > expires) return { refusal: "the certificate is not valid at this time" };
  return { tenant: owner, expires };
}
