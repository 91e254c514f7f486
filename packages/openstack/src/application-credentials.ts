import { silentLog, systemClock } from "@causeway/foundation";
import type { CloudConfig } from "./config/config.ts";
import { isOpenStackNotFound, isUnauthorized } from "./errors/predicates.ts";
import { repeatIdempotent } from "./http/repeat.ts";
import { SMALL_ANSWER } from "./http/transport.ts";
import { exchangeOf, issueToken, type IdentityAddress, type IdentityClientOptions } from "./identity-client.ts";
import { listIn, objectIn } from "./services/wire.ts";
import { identityUrl } from "./session/endpoints.ts";
import type { CallOptions } from "./types/collection.ts";
import type { ApplicationCredential, ApplicationCredentialCreate } from "./types/identity.ts";

/** A user's application credentials, made with a token that the user brings. */
export interface ApplicationCredentialClient {
  /**
   * A new one, whose secret is in the result. One of the same name, as an attempt whose answer was lost leaves it, is
   * replaced. Throws OPENSTACK_FORBIDDEN for the token of an application credential that is restricted.
   */
  replace(
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
  return {
    async replace(token, userId, credential, call) {
      const path = pathOf(userId);
      const query = `?name=${encodeURIComponent(credential.name)}`;
      const same = listIn<ApplicationCredential>(
        await send({ method: "GET", path: path + query, token }, call?.signal),
        "application_credentials",
      );
      for (const { id, name } of same)
        if (name === credential.name) await send({ method: "DELETE", path: `${path}/${id}`, token }, call?.signal);
      const body = { application_credential: credential };
      return objectIn(await send({ method: "POST", path, token, body }, call?.signal), "application_credential");
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
