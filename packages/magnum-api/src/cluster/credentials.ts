import { credentialsOf, type MagnumCluster } from "@causeway/api";
import type { TrusteeFor } from "../access/trustees.ts";
import { Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";

/** The application credential of a cluster, as its Secret keeps it. */
export interface ClusterCredential {
  readonly userId: string;
  readonly id: string;
  readonly secret: string;
  /** It is of a user that the cluster has for itself; otherwise of a member of the project. */
  readonly isTrustee?: boolean | undefined;
}

/** Whom a cluster's own user is for. */
export function trusteeOf({ spec }: MagnumCluster): TrusteeFor {
  const { uuid, name, projectID: projectId, keypair } = spec;
  return { uuid, name, projectId, ...(keypair === undefined ? {} : { keypair: { name: keypair } }) };
}

const key = "application-credential.json";

/** Data of the Secret in addition to clouds.yaml, so that the credential can be revoked. */
export function credentialData(credential: ClusterCredential): Readonly<Record<string, string>> {
  return { [key]: Buffer.from(JSON.stringify(credential), "utf8").toString("base64") };
}

/** The credential of a cluster; undefined: it has none, or one that the Magnum API did not make. */
export async function readCredential(
  client: KubernetesClient,
  { metadata }: MagnumCluster,
  signal?: AbortSignal,
): Promise<ClusterCredential | undefined> {
  const name = credentialsOf(metadata.name);
  const secret = await client.find(Secret, { namespace: metadata.namespace ?? "", name }, signal ? { signal } : {});
  const text = secretText(secret, key);
  if (text === undefined) return undefined;
  const { userId, id, secret: value, isTrustee } = JSON.parse(text) as Partial<ClusterCredential>;
  if (userId === undefined || id === undefined || value === undefined) return undefined;
  return { userId, id, secret: value, ...(isTrustee === true ? { isTrustee } : {}) };
}
