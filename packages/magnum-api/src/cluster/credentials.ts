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
  /** One more than that of the credential which it replaced, so that each is older or newer than another one. */
  readonly serial?: number | undefined;
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

/** The Secret of a cluster's credentials, and the credential that it has. */
export interface HeldCredential {
  readonly secret: Secret | undefined;
  /** Undefined: there is none, or one that the Magnum API did not make. */
  readonly credential: ClusterCredential | undefined;
}

/**
 * Reads the Secret "NAME-cloud-config" of a cluster from the API server, not from an informer: it may have been written
 * just now.
 */
export async function readHeld(
  client: KubernetesClient,
  { metadata }: MagnumCluster,
  signal?: AbortSignal,
): Promise<HeldCredential> {
  const name = credentialsOf(metadata.name);
  const secret = await client.find(Secret, { namespace: metadata.namespace ?? "", name }, signal ? { signal } : {});
  return { secret, credential: parse(secretText(secret, key)) };
}

/** The credential of a cluster; undefined: it has none, or one that the Magnum API did not make. */
export async function readCredential(
  client: KubernetesClient,
  cluster: MagnumCluster,
  signal?: AbortSignal,
): Promise<ClusterCredential | undefined> {
  return (await readHeld(client, cluster, signal)).credential;
}

function parse(text: string | undefined): ClusterCredential | undefined {
  if (text === undefined) return undefined;
  const { userId, id, secret, isTrustee, serial } = JSON.parse(text) as Partial<ClusterCredential>;
  if (userId === undefined || id === undefined || secret === undefined) return undefined;
  return {
    userId,
    id,
    secret,
    ...(isTrustee === true ? { isTrustee } : {}),
    ...(serial === undefined ? {} : { serial }),
  };
}
