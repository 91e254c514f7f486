import { messageOf, silentLog, systemClock } from "@causeway/foundation";
import type { CloudConfig } from "./config/config.ts";
import { isOpenStackNotFound, isUnauthorized } from "./errors/predicates.ts";
import { repeatCreate, repeatIdempotent } from "./http/repeat.ts";
import { SMALL_ANSWER } from "./http/transport.ts";
import { exchangeOf, issueToken, type IdentityAddress, type IdentityClientOptions } from "./identity-client.ts";
import { listIn, objectIn } from "./services/wire.ts";
import { identityUrl } from "./session/endpoints.ts";
import type { CallOptions } from "./types/collection.ts";
import type { ApplicationCredential, ApplicationCredentialCreate } from "./types/identity.ts";

/** A user's application credentials, made with a token that the user brings. */
export interface ApplicationCredentialClient {
  /**
   * A new one, whose secret is in the result; no other may ever have its name. What an attempt whose answer was lost
   * has left is deleted before the next one, and after the last. Throws OPENSTACK_FORBIDDEN for the token of an
   * application credential that is restricted.
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
const PAUSES = [1_000];

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
  const discard = async (path: string, token: string, signal: AbortSignal | undefined): Promise<void> => {
    await send({ method: "DELETE", path, token }, signal).catch((error: unknown) => {
      if (!isOpenStackNotFound(error)) throw error;
    });
  };
  const left = (credential: string, cause: unknown): undefined => {
    const text = "an application credential was perhaps made, and could not be deleted";
    log.warn(text, { credential, error: messageOf(cause) });
  };
  return {
    async create(token, userId, credential, call) {
      const path = pathOf(userId);
      const body = { application_credential: credential };
      const post = async (): Promise<ApplicationCredential & { readonly secret: string }> =>
        objectIn(await send({ method: "POST", path, token, body }, call?.signal), "application_credential");
      /** Keystone shows a secret once: one whose answer was lost cannot be used. */
      const remove = async (signal: AbortSignal | undefined): Promise<undefined> => {
        const query = `?name=${encodeURIComponent(credential.name)}`;
        const answer = await send({ method: "GET", path: path + query, token }, signal);
        for (const { id, name } of listIn<ApplicationCredential>(answer, "application_credentials"))
          if (name === credential.name) await discard(`${path}/${id}`, token, signal);
      };
      const given = call?.signal;
      try {
        const options = { clock, log, pauses: PAUSES, signal: given ? AbortSignal.any([given, closed]) : closed };
        return await repeatCreate(
          post,
          () => remove(given).catch((cause: unknown) => left(credential.name, cause)),
          options,
        );
      } catch (error) {
        if (given?.aborted) await remove(undefined).catch((cause: unknown) => left(credential.name, cause));
        throw error;
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
