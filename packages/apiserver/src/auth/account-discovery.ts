import type { Cluster } from "../contract/cluster.ts";

const CONFIGURATION = "/.well-known/openid-configuration";
const KEYS = "/openid/v1/jwks";

/** What others need to verify service-account tokens: OpenID Connect Discovery 1.0 and RFC 7517, at two paths. */
export function accountDiscovery(cluster: Cluster, path: string): { type: string; body: string } | undefined {
  const { keySet, verifying } = cluster.accountKeys;
  if (path === KEYS) return { type: "application/jwk-set+json", body: JSON.stringify(keySet) };
  if (path !== CONFIGURATION) return undefined;
  const document = {
    issuer: cluster.issuer,
    jwks_uri: `${cluster.url()}${KEYS}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(verifying.map((k) => k.algorithm))].sort(),
  };
  return { type: "application/json", body: JSON.stringify(document) };
}
