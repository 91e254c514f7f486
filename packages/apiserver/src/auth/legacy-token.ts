import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { jose } from "../lazy-imports.ts";

/** The issuer of tokens without an end, which count as long as the Secret that has them. */
export const LEGACY_ISSUER = "kubernetes/serviceaccount";

/** A token of an account, for a Secret to keep. */
export function issueLegacyToken(cluster: Cluster, account: KubeObject, secretName: string): Promise<string> {
  const { name, namespace = "", uid = "" } = account.metadata;
  const { key, algorithm, id } = cluster.accountKeys.signing;
  const claims = {
    "kubernetes.io/serviceaccount/namespace": namespace,
    "kubernetes.io/serviceaccount/secret.name": secretName,
    "kubernetes.io/serviceaccount/service-account.name": name,
    "kubernetes.io/serviceaccount/service-account.uid": uid,
  };
  return new (jose().SignJWT)(claims)
    .setProtectedHeader({ alg: algorithm, kid: id })
    .setIssuer(LEGACY_ISSUER)
    .setSubject(`system:serviceaccount:${namespace}:${name}`)
    .sign(key);
}
