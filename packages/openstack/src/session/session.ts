import { CausewayError, hasCode, InputError } from "@causeway/foundation";
import type { CloudConfig } from "../config/config.ts";
import type { LiveConfig } from "../config/live-config.ts";
import type { Exchange } from "../http/exchange.ts";
import { repeatIdempotent, type RepeatOptions } from "../http/repeat.ts";
import { chooseRegion, findEndpoint, identityUrl } from "./endpoints.ts";
import { federatedProof } from "./federation.ts";
import { SMALL_ANSWER } from "../http/transport.ts";
import { tokenRequest } from "./token-request.ts";
import { readToken, type Token } from "./token.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** A token with the instant from which it is renewed. */
interface Held extends Token {
  readonly renewAt: number;
  readonly region: string;
}

interface Refusal {
  readonly error: CausewayError;
  readonly until: number;
}

/**
 * Keeps one token for all callers: got when first needed, renewed before it expires, and once more when a service
 * refuses it. Callers that need one at the same time share one request. Refused credentials are not tried again for a
 * while (5 s, doubling to 2 min), lest the cloud locks the account; new ones are tried at once.
 */
export class Session {
  readonly #live: LiveConfig;
  readonly #exchange: Exchange;
  readonly #options: RepeatOptions;
  #held: Held | undefined;
  #request: Promise<Held> | undefined;
  #refusal: Refusal | undefined;
  #refusals = 0;
  #target: string | undefined;

  constructor(live: LiveConfig, exchange: Exchange, options: RepeatOptions) {
    this.#live = live;
    this.#exchange = exchange;
    this.#options = options;
  }

  async token(signal?: AbortSignal): Promise<Token & { readonly region: string }> {
    signal?.throwIfAborted();
    if (this.#held && this.#options.clock.now() < this.#held.renewAt) return this.#held;
    this.#request ??= this.#authenticate().finally(() => (this.#request = undefined));
    return unlessAborted(this.#request, signal);
  }

  /** A service refused this token: the next `token` gets another. */
  refuse(token: string): void {
    if (this.#held?.token === token) this.#held = undefined;
  }

  /** The region, once a token is there; before that what the configuration says. */
  get region(): string {
    return this.#held?.region ?? this.#live.current.region ?? "";
  }

  /** The URL of a service in the catalog, or undefined. */
  async endpoint(service: string, signal?: AbortSignal): Promise<string | undefined> {
    const { catalog, region } = await this.token(signal);
    return findEndpoint(this.#live.current, { catalog, region }, service);
  }

  async #authenticate(): Promise<Held> {
    const { clock } = this.#options;
    if (this.#live.refresh()) this.#rest();
    const config = this.#live.current;
    if (this.#refusal && clock.now() < this.#refusal.until) throw this.#refusal.error;
    try {
      const token = await repeatIdempotent(() => this.#ask(config), this.#options);
      const region = chooseRegion(config, token.catalog);
      this.#guard(config, `${region}/${token.projectId ?? ""}`);
      const margin = Math.min(300_000, token.lifetime / 5);
      this.#rest();
      this.#held = { ...token, region, renewAt: clock.now() + token.lifetime - margin };
      return this.#held;
    } catch (error) {
      const elsewhere = error instanceof CausewayError && error.code === "CLOUD_TARGET_CHANGED" ? error : undefined;
      if (!elsewhere && !isRefusal(error)) {
        throw hasCode(error, "OPENSTACK_NOT_FOUND") ? notKeystone(config, error) : error;
      }
      const refused = elsewhere ?? refusedCredentials(config, error);
      this.#refusal = { error: refused, until: clock.now() + Math.min(120_000, 5_000 * 2 ** this.#refusals++) };
      throw refused;
    }
  }

  #rest(): void {
    this.#refusal = undefined;
    this.#refusals = 0;
  }

  /** Credentials may change while a program runs; the project and region that it works on may not. */
  #guard({ name }: CloudConfig, target: string): void {
    this.#target ??= target;
    if (this.#target === target) return;
    throw new CausewayError(
      "CLOUD_TARGET_CHANGED",
      `The new credentials of cloud ${name} are for ${target}; this program works on ${this.#target}.`,
      { hint: "Use credentials for the same region and project, or restart the program for the other one." },
    );
  }

  async #ask(config: CloudConfig): Promise<Token> {
    const { name, auth, authUrl, scope } = config;
    const federated = auth.type === "oidc_access_token";
    const proof = federated ? await federatedProof(config, auth, this.#exchange) : auth;
    const answer = await this.#exchange({
      service: "identity",
      method: "POST",
      url: `${identityUrl(authUrl)}/auth/tokens`,
      route: "/auth/tokens",
      headers: {},
      body: tokenRequest(proof, scope),
      deadline: 30_000,
      limit: SMALL_ANSWER,
    });
    return readToken(name, answer.headers["x-subject-token"], answer.body);
  }
}

/** Keystone responds 404, not 401, for an application credential that has been deleted and for a malformed token. */
function isRefusal(error: unknown): boolean {
  if (hasCode(error, "OPENSTACK_UNAUTHORIZED")) return true;
  const said = error instanceof CausewayError ? error.details["serviceMessage"] : undefined;
  return hasCode(error, "OPENSTACK_NOT_FOUND") && typeof said === "string" && /^could not (find|recognize)/i.test(said);
}

function notKeystone(config: CloudConfig, cause: unknown): CausewayError {
  return new InputError("CLOUD_CONFIG_INVALID", `The auth_url of cloud ${config.name} does not serve Keystone v3.`, {
    cause,
    hint: "auth_url is the identity service's URL, with or without /v3.",
  });
}

function refusedCredentials(config: CloudConfig, cause: unknown): CausewayError {
  const who = {
    password: "user name, password",
    token: "token",
    application_credential: "application credential",
    oidc_access_token: "OpenID Connect access token",
  };
  const details = cause instanceof CausewayError ? cause.details : {};
  return new InputError(
    "OPENSTACK_UNAUTHORIZED",
    `Cloud ${config.name} refused the ${who[config.auth.type]} or project.`,
    {
      cause,
      hint: {
        password: "Check username, password, project and the two domain names of this cloud's entry.",
        token:
          "The token has expired or was never valid here; get another, or use a password or application credential.",
        oidc_access_token: "Get a new access token; check identity_provider, protocol and Keystone's mapping for it.",
        application_credential: "Check its id and secret, and that it has neither expired nor been deleted.",
      }[config.auth.type],
      details,
    },
  );
}
