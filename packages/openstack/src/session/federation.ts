import { InputError } from "@causeway/foundation";
import type { CloudConfig, OidcAccessTokenAuth, TokenAuth } from "../config/config.ts";
import type { Exchange } from "../http/exchange.ts";
import { SMALL_ANSWER } from "../http/transport.ts";
import { identityUrl } from "./endpoints.ts";

/**
 * An unscoped token for an OpenID Connect access token (Identity API v3, OS-FEDERATION, "Request an unscoped
 * OS-FEDERATION token"; keystoneauth's v3oidcaccesstoken). It is exchanged for a scoped one as any token is.
 */
export async function federatedProof(
  config: CloudConfig,
  auth: OidcAccessTokenAuth,
  exchange: Exchange,
): Promise<TokenAuth> {
  const provider = encodeURIComponent(auth.identityProvider);
  const protocol = encodeURIComponent(auth.protocol);
  const path = `/OS-FEDERATION/identity_providers/${provider}/protocols/${protocol}/auth`;
  const answer = await exchange({
    service: "identity",
    method: "POST",
    url: `${identityUrl(config.authUrl)}${path}`,
    route: "/OS-FEDERATION/identity_providers/{id}/protocols/{id}/auth",
    headers: { Authorization: `Bearer ${auth.accessToken}` },
    deadline: 30_000,
    limit: SMALL_ANSWER,
  });
  const token = answer.headers["x-subject-token"];
  if (token !== undefined) return { type: "token", token };
  throw new InputError(
    "CLOUD_CONFIG_INVALID",
    `Keystone of cloud ${config.name} issued no token for the access token.`,
    {
      hint: "Something else may respond at auth_url, such as the identity provider's own page.",
    },
  );
}
