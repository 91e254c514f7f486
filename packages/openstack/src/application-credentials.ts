import { messageOf, silentLog, systemClock } from "@causeway/foundation";
import type { CloudConfig } from "./config/config.ts";
import {
  isBadRequest,
  isForbidden,
  isOpenStackConflict,
  isOpenStackNotFound,
  isUnauthorized,
} from "./errors/predicates.ts";
import { repeatIdempotent, repeatUnsent } from "./http/repeat.ts";
import { SMALL_ANSWER } from "./http/transport.ts";
import { exchangeOf, issueToken, type IdentityAddress, type IdentityClientOptions } from "./identity-client.ts";
import { listIn, objectIn } from "./services/wire.ts";
import { identityUrl } from "./session/endpoints.ts";
import type { CallOptions } from "./types/collection.ts";
import type { ApplicationCredential, ApplicationCredentialCreate } from "./types/identity.ts";

/** A user's application credentials, made with a token that the user brings. */
export interface ApplicationCredentialClient {
  /**
   * A new one, whose secret is in the result; no other may ever have its name: where the answer is lost, what Keystone
   * has of this name is deleted, and the error is thrown. Throws OPENSTACK_FORBIDDEN for the token of an application
   * credential that is restricted.
   */
  create(
    token: string,
    userId: string,
    credential: ApplicationCredentialCreate,
    options?: CallOptions,
  ): Promise<ApplicationCredential & { readonly secret: string }>;
  /** Deletes an unrestricted one by itself. Nothing happens if it is gone, or its user. */
  revoke(
    credential: { readonly userId: string; readonly id: string; readonly secret: string },
    options?: CallOptions,
  ): Promise<void>;
  close(): void;
}

/** Milliseconds after which Keystone is searched again for what a lost attempt has made. */
const PAUSES = [1_000, 3_000];
/** Milliseconds for all of these searches. */
const WITHDRAW_DEADLINE = 30_000;

/** Keystone responded, and made nothing. */
const isRefusal = (error: unknown): boolean =>
  [isBadRequest, isUnauthorized, isForbidden, isOpenStackNotFound, isOpenStackConflict].some((is) => is(error));

/** A client that creates and deletes application credentials of the user that it is. */
export function createApplicationCredentialClient(
  address: IdentityAddress,
  options: IdentityClientOptions = {},
): ApplicationCredentialClient {
  const { clock = systemClock, log = silentLog, deadline = 30_000 } = options;
  const { exchange, close, closed } = exchangeOf({ ...address, auth: { type: "token", token: "" } }, options);
  const base = identityUrl(address.authUrl);
  const route = "/users/{id}/application_credentials";
  const send = async (
    request: { method: string; path: string; token: string; body?: unknown },
    given: AbortSignal | undefined,
  ): Promise<unknown> => {
    const { method, path, token, body } = request;
    const signal = given ? AbortSignal.any([given, closed]) : closed;
    const headers = { "X-Auth-Token": token };
    const call = { service: "identity", method, url: `${base}${path}`, route, headers, deadline };
    const once = () => exchange({ ...call, ...(body === undefined ? {} : { body }), limit: SMALL_ANSWER, signal });
    return (method === "POST" ? await once() : await repeatIdempotent(once, { clock, log, signal })).body;
  };
  const pathOf = (userId: string) => `/users/${encodeURIComponent(userId)}/application_credentials`;
  const warn = (credential: string, error: unknown): void =>
    log.warn("an application credential was perhaps made, and is left in Keystone", {
      credential,
      error: messageOf(error),
    });
  const discard = async (path: string, token: string, signal: AbortSignal): Promise<void> => {
    await send({ method: "DELETE", path, token }, signal).catch((error: unknown) => {
      if (!isOpenStackNotFound(error)) throw error;
    });
  };
  /** Whether one of this name was there, and is deleted. */
  const withdraw = async (path: string, name: string, token: string, signal: AbortSignal): Promise<boolean> => {
    const answer = await send({ method: "GET", path: `${path}?name=${encodeURIComponent(name)}`, token }, signal);
    const same = listIn<ApplicationCredential>(answer, "application_credentials").filter((one) => one.name === name);
    for (const { id } of same) await discard(`${path}/${id}`, token, signal);
    return same.length > 0;
  };
  /** Keystone shows a secret once: one whose answer was lost cannot be used. It may still be at work on it. */
  const withdrawLost = async (path: string, name: string, { token, cause }: { token: string; cause: unknown }) => {
    const signal = AbortSignal.timeout(WITHDRAW_DEADLINE);
    try {
      for (const pause of [0, ...PAUSES]) {
        if (pause > 0) await clock.sleep(pause, signal);
        if (await withdraw(path, name, token, signal)) return;
      }
      warn(name, cause);
    } catch (error) {
      warn(name, error);
    }
  };
  return {
    async create(token, userId, credential, call) {
      const path = pathOf(userId);
      const signal = call?.signal ? AbortSignal.any([call.signal, closed]) : closed;
      const body = { application_credential: credential };
      const post = () => send({ method: "POST", path, token, body }, signal);
      try {
        return objectIn(await repeatUnsent(post, { clock, log, signal }), "application_credential");
      } catch (cause) {
        if (!isRefusal(cause)) await withdrawLost(path, credential.name, { token, cause });
        throw cause;
      }
    },
    async revoke({ userId, id, secret }, call) {
      const config: CloudConfig = { ...address, auth: { type: "application_credential", id, secret } };
      try {
        const { token } = await issueToken(config, options);
        await send({ method: "DELETE", path: `${pathOf(userId)}/${id}`, token }, call?.signal);
      } catch (error) {
        if (!isOpenStackNotFound(error) && !isUnauthorized(error)) throw error;
      }
    },
    close,
  };
}
