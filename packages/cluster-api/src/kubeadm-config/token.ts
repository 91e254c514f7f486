import { base64 } from "@causeway/foundation";
import { timestamp, type Secret } from "@causeway/kubernetes";

/** Bootstrap tokens (kubernetes.io, "Authenticating with Bootstrap Tokens"): `[a-z0-9]{6}.[a-z0-9]{16}`. */

/** How long a token lives unless its machine still needs it. */
export const tokenLifetime = 15 * 60_000;
/** The namespace of token Secrets in the workload cluster. */
export const tokenNamespace = "kube-system";
/** Label of our token Secrets; its value is the uid of the KubeadmConfig. */
export const tokenLabel = "bootstrap.causeway.dev/config";

/** `abcdef.0123456789abcdef`: six and sixteen letters or digits. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text);
}

/** Of a token, or of its ID, which are its first six characters. */
export function tokenSecretName(token: string): string {
  return `bootstrap-token-${token.slice(0, 6)}`;
}

/** Whose token it is: the label and the description of its Secret. */
export interface TokenOwner {
  readonly configUid: string;
  readonly machine: string;
}

/** The Secret that makes the API server take the token. `expires`: milliseconds since the epoch. */
export function tokenSecret(token: string, owner: TokenOwner, expires: number): Secret {
  const values: Record<string, string> = {
    "token-id": token.slice(0, 6),
    "token-secret": token.slice(7),
    expiration: timestamp(expires),
    "usage-bootstrap-signing": "true",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    description: `token of machine ${owner.machine}`,
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: tokenNamespace, name: tokenSecretName(token), labels: { [tokenLabel]: owner.configUid } },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])),
  };
}

/** When the token of a Secret stops being accepted, in milliseconds since the epoch. */
export function expiryOf(secret: Secret): number {
  const text = Buffer.from(secret.data?.["expiration"] ?? "", "base64").toString("utf8");
  const at = Date.parse(text);
  return Number.isNaN(at) ? Infinity : at;
}
