import { CausewayError, silentLog, systemClock, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { CloudConfig } from "./config/config.ts";
import { LiveConfig } from "./config/live-config.ts";
import { Budget, type BudgetOptions } from "./http/budget.ts";
import { createExchange, type Exchange } from "./http/exchange.ts";
import { createLiveTransport } from "./http/live-transport.ts";
import { repeatIdempotent } from "./http/repeat.ts";
import { CallCounter } from "./http/stats.ts";
import { SMALL_ANSWER } from "./http/transport.ts";
import { listIn, objectIn } from "./services/wire.ts";
import { identityUrl } from "./session/endpoints.ts";
import { federatedProof } from "./session/federation.ts";
import { readToken } from "./session/token.ts";
import { tokenRequest } from "./session/token-request.ts";
import type { CallStats } from "./types/cloud.ts";
import type { CallOptions } from "./types/collection.ts";
import type { Group, TokenFacts } from "./types/identity.ts";

interface ValidateOptions extends CallOptions {
  /** Called when the budget has admitted the request: what is aborted before was never sent. */
  readonly onSent?: () => void;
}

/** Keystone for a program without credentials of its own: users bring their tokens. */
export interface IdentityClient {
  /**
   * GET /v3/auth/tokens with the token as its own proof. Throws OPENSTACK_UNAUTHORIZED or OPENSTACK_NOT_FOUND for a
   * token that is not valid.
   */
  validate(token: string, options?: ValidateOptions): Promise<TokenFacts>;
  /** The groups of a user, read with that user's token. */
  groups(token: string, userId: string, options?: CallOptions): Promise<Group[]>;
  stats(): CallStats;
  close(): void;
}

/** Where Keystone is, and the limits of the client. */
export interface IdentityClientOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Default "causeway". */
  readonly userAgent?: string;
  readonly budget?: BudgetOptions;
  /** Milliseconds for each attempt. Default 10,000. */
  readonly deadline?: number;
}

/** Where Keystone is, and whom to trust for it. */
export type IdentityAddress = Pick<CloudConfig, "name" | "authUrl" | "tls">;

/**
 * Reads the version document of Keystone, which needs no token. Throws OPENSTACK_UNREACHABLE, OPENSTACK_… for what is
 * no Keystone, CLOUD_CONFIG_INVALID when a certificate file cannot be read.
 */
export async function reachIdentity(
  address: IdentityAddress,
  { signal, ...options }: IdentityClientOptions & CallOptions = {},
): Promise<void> {
  const { get, close } = connect(address, options);
  try {
    const { version } = ((await get("/", "", {}, signal ? { signal } : {})) ?? {}) as { readonly version?: unknown };
    if (version === undefined)
      throw new CausewayError("OPENSTACK_UNEXPECTED_ANSWER", `${address.authUrl} does not respond as Keystone v3 does`);
  } finally {
    close();
  }
}

interface Parts {
  readonly get: (
    route: string,
    path: string,
    headers: Record<string, string>,
    options?: ValidateOptions,
  ) => Promise<unknown>;
  readonly stats: () => CallStats;
  readonly close: () => void;
}

/** @throws CLOUD_CONFIG_INVALID when a certificate file cannot be read */
export function createIdentityClient(address: IdentityAddress, options: IdentityClientOptions = {}): IdentityClient {
  const { get, stats, close } = connect(address, options);
  return {
    async validate(token, call) {
      const headers = { "X-Auth-Token": token, "X-Subject-Token": token };
      return objectIn(await get("/auth/tokens", "/auth/tokens?nocatalog", headers, call), "token");
    },
    async groups(token, userId, call) {
      const path = `/users/${encodeURIComponent(userId)}/groups`;
      return listIn(await get("/users/{id}/groups", path, { "X-Auth-Token": token }, call), "groups");
    },
    stats,
    close,
  };
}

function connect(address: IdentityAddress, options: IdentityClientOptions): Parts {
  const { clock = systemClock, log = silentLog, deadline = 10_000 } = options;
  const { exchange, counter, close, closed } = exchangeOf({ ...address, auth: { type: "token", token: "" } }, options);
  const base = identityUrl(address.authUrl);
  return {
    async get(route, path, headers, { signal, onSent } = {}) {
      const call = { service: "identity", method: "GET", url: `${base}${path}`, route, headers, deadline };
      const both = signal ? AbortSignal.any([signal, closed]) : closed;
      const send = () => exchange({ ...call, limit: SMALL_ANSWER, signal: both, onSent });
      return (await repeatIdempotent(send, { clock, log, signal: both })).body;
    },
    stats: () => counter.stats(),
    close,
  };
}

/** Requests to Keystone that nothing authenticates by itself. */
export interface IdentityExchange {
  readonly exchange: Exchange;
  readonly counter: CallCounter;
  readonly close: () => void;
  readonly closed: AbortSignal;
}

/** Throws CLOUD_CONFIG_INVALID when a certificate file cannot be read. Close it when it is no longer used. */
export function exchangeOf(config: CloudConfig, options: IdentityClientOptions): IdentityExchange {
  const { clock = systemClock, log = silentLog } = options;
  const transport = createLiveTransport(new LiveConfig(config, log), {
    log,
    connections: options.budget?.inFlight ?? 16,
  });
  const counter = new CallCounter();
  const closing = new AbortController();
  const exchange = createExchange({
    cloud: config.name,
    clock,
    log,
    userAgent: options.userAgent ?? "causeway",
    transport,
    budget: new Budget(clock, options.budget),
    counter,
    metrics: options.metrics,
    secrets: () => secretsIn(config),
    closed: closing.signal,
  });
  const close = (): void => {
    closing.abort();
    void transport.close();
  };
  return { exchange, counter, close, closed: closing.signal };
}

function secretsIn({ auth }: CloudConfig): string[] {
  switch (auth.type) {
    case "password":
      return [auth.password];
    case "token":
      return auth.token === "" ? [] : [auth.token];
    case "application_credential":
      return [auth.secret];
    case "oidc_access_token":
      return [auth.accessToken];
  }
}

/** A token, for a program that hands it to another one. */
export interface IssuedToken {
  /** A secret. */
  readonly token: string;
  /** Milliseconds since the epoch, by our clock. */
  readonly expires: number;
  readonly projectId: string | undefined;
}

/**
 * A new token for the credentials and scope of a config. Throws OPENSTACK_UNAUTHORIZED (or OPENSTACK_NOT_FOUND, for a
 * deleted application credential) when Keystone refuses them, CLOUD_CONFIG_INVALID when a certificate file cannot be
 * read.
 */
export async function issueToken(config: CloudConfig, options: IdentityClientOptions = {}): Promise<IssuedToken> {
  const { clock = systemClock, log = silentLog, deadline = 30_000 } = options;
  const { exchange, close, closed } = exchangeOf(config, options);
  try {
    const proof =
      config.auth.type === "oidc_access_token" ? await federatedProof(config, config.auth, exchange) : config.auth;
    const url = `${identityUrl(config.authUrl)}/auth/tokens?nocatalog`;
    const call = { service: "identity", method: "POST", url, route: "/auth/tokens", headers: {}, deadline };
    const body = tokenRequest(proof, config.scope);
    const send = () => exchange({ ...call, body, limit: SMALL_ANSWER });
    const answer = await repeatIdempotent(send, { clock, log, signal: closed });
    const { token, lifetime, projectId } = readToken(config.name, answer.headers["x-subject-token"], answer.body);
    return { token, expires: clock.now() + lifetime, projectId };
  } finally {
    close();
  }
}
