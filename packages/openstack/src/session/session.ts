import { CausewayError, hasCode } from "@causeway/foundation";
import type { CloudConfig } from "../config/config.ts";
import type { Exchange } from "../http/exchange.ts";
import { repeatIdempotent, type RepeatOptions } from "../http/repeat.ts";
import { chooseRegion, findEndpoint, identityUrl } from "./endpoints.ts";
import { tokenRequest } from "./token-request.ts";
import { readToken, type Token } from "./token.ts";

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
 * while (5 s, doubling to 2 min), lest the cloud locks the account.
 */
export class Session {
  readonly #config: CloudConfig;
  readonly #exchange: Exchange;
  readonly #options: RepeatOptions;
  #held: Held | undefined;
  #request: Promise<Held> | undefined;
  #refusal: Refusal | undefined;
  #refusals = 0;

  constructor(config: CloudConfig, exchange: Exchange, options: RepeatOptions) {
    this.#config = config;
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
    return this.#held?.region ?? this.#config.region ?? "";
  }

  /** The URL of a service in the catalog, or undefined. */
  async endpoint(service: string, signal?: AbortSignal): Promise<string | undefined> {
    const { catalog, region } = await this.token(signal);
    return findEndpoint(this.#config, { catalog, region }, service);
  }

  async #authenticate(): Promise<Held> {
    const { clock } = this.#options;
    if (this.#refusal && clock.now() < this.#refusal.until) throw this.#refusal.error;
    try {
      const token = await repeatIdempotent(() => this.#ask(), this.#options);
      const region = chooseRegion(this.#config, token.catalog);
      const margin = Math.min(300_000, token.lifetime / 5);
      this.#refusal = undefined;
      this.#refusals = 0;
      this.#held = { ...token, region, renewAt: clock.now() + token.lifetime - margin };
      return this.#held;
    } catch (error) {
      if (!isRefusal(error)) throw hasCode(error, "OPENSTACK_NOT_FOUND") ? notKeystone(this.#config, error) : error;
      const refused = refusedCredentials(this.#config, error);
      this.#refusal = { error: refused, until: clock.now() + Math.min(120_000, 5_000 * 2 ** this.#refusals++) };
      throw refused;
    }
  }

  async #ask(): Promise<Token> {
    const answer = await this.#exchange({
      service: "identity",
      method: "POST",
      url: `${identityUrl(this.#config.authUrl)}/auth/tokens`,
      route: "/auth/tokens",
      headers: {},
      body: tokenRequest(this.#config),
      deadline: 30_000,
    });
    return readToken(this.#config.name, answer.headers["x-subject-token"], answer.body);
  }
}

/** Keystone answers 404, not 401, for an application credential that has been deleted and for a malformed token. */
function isRefusal(error: unknown): boolean {
  if (hasCode(error, "OPENSTACK_UNAUTHORIZED")) return true;
  const said = error instanceof CausewayError ? error.details["serviceMessage"] : undefined;
  return hasCode(error, "OPENSTACK_NOT_FOUND") && typeof said === "string" && /^could not (find|recognize)/i.test(said);
}

function notKeystone(config: CloudConfig, cause: unknown): CausewayError {
  return new CausewayError("CLOUD_CONFIG_INVALID", `There is no Keystone v3 at the auth_url of cloud ${config.name}.`, {
    cause,
    hint: "auth_url is the identity service's URL, with or without /v3.",
  });
}

function refusedCredentials(config: CloudConfig, cause: unknown): CausewayError {
  const who = { password: "user name, password", token: "token", application_credential: "application credential" };
  const details = cause instanceof CausewayError ? cause.details : {};
  return new CausewayError(
    "OPENSTACK_UNAUTHORIZED",
    `Cloud ${config.name} refused the ${who[config.auth.type]} or project.`,
    {
      cause,
      hint: {
        password: "Check username, password, project and the two domain names of this cloud's entry.",
        token:
          "The token has expired or was never valid here; get another, or use a password or application credential.",
        application_credential: "Check its id and secret, and that it has neither expired nor been deleted.",
      }[config.auth.type],
      details,
    },
  );
}

/** The promise's result, unless the signal aborts first; the promise itself goes on for others. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
