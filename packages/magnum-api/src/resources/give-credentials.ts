import { credentialsManifest, type MagnumCluster } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { keyOf, ownerReference, Secret } from "@causeway/kubernetes";
import { isForbidden, isUnauthorized, renderCloudsYaml } from "@causeway/openstack";
import { credentialData, readCredential, trusteeOf, type ClusterCredential } from "../cluster/credentials.ts";
import { CLOUD, magnumLabels } from "../cluster/names.ts";
import type { Api, Call } from "../server/call.ts";
import { forbidden } from "../wire/error.ts";

/**
 * Gives a cluster an application credential of its own, in place of the one that it has: of a user of its own where the
 * installation has an account for that, else of the caller. The old one is revoked when the new one is written.
 * @throws MagnumError 403 when Keystone does not let the caller's token create one
 */
export async function giveCredentials(api: Api, call: Call, cluster: MagnumCluster): Promise<void> {
  const { signal } = call;
  const before = await readCredential(api.store.client, cluster, signal);
  const made = await issueCredential(api, call, cluster);
  try {
    await writeCredential(api, cluster, made, signal);
  } catch (error) {
    // A user of the cluster's own stays for the next attempt, and goes with the row.
    if (made.isTrustee !== true) await api.credentials.revoke(made).catch(() => {});
    throw error;
  }
  if (before && before.id !== made.id) await revoke(api, cluster, { before, made }, signal);
}

async function issueCredential(api: Api, call: Call, cluster: MagnumCluster): Promise<ClusterCredential> {
  const { spec } = cluster;
  if (api.trustees !== undefined) {
    const { keypair, ...trustee } = trusteeOf(cluster);
    const publicKey = keypair && (await api.cloud.publicKey(call.caller.token, keypair.name, call.signal));
    const own = { ...trustee, ...(keypair ? { keypair: { ...keypair, publicKey } } : {}) };
    return { ...(await api.trustees.issue(own, call.signal)), isTrustee: true };
  }
  const name = `magnum-${spec.uuid}-${api.newId().slice(0, 13)}`;
  const { id, secret } = await createCredential(api, call, { name, cluster: spec.name });
  return { userId: call.caller.userId, id, secret };
}

async function writeCredential(
  api: Api,
  cluster: MagnumCluster,
  made: ClusterCredential,
  signal: AbortSignal,
): Promise<void> {
  const { spec, metadata } = cluster;
  const config = {
    name: CLOUD,
    authUrl: api.keystone.authUrl,
    auth: { type: "application_credential", id: made.id, secret: made.secret } as const,
    ...(api.region === undefined ? {} : { region: api.region }),
    ...(api.keystone.certificateAuthority === undefined ? {} : { tls: { ca: api.keystone.certificateAuthority } }),
  };
  const place = {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    labels: { [magnumLabels.uuid]: spec.uuid },
    owner: ownerReference(cluster),
  };
  const { object } = credentialsManifest(place, renderCloudsYaml(config));
  const secret = object as Secret;
  await api.store.client.apply(
    Secret,
    { ...secret, data: { ...secret.data, ...credentialData(made) } },
    { fieldManager: "causeway-magnum-api", signal },
  );
}

interface Replaced {
  readonly before: ClusterCredential;
  readonly made: ClusterCredential;
}

async function revoke(
  api: Api,
  cluster: MagnumCluster,
  { before, made }: Replaced,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (before.isTrustee !== true) await api.credentials.revoke(before);
    else if (made.isTrustee === true) await api.trustees?.retain(made, trusteeOf(cluster), signal);
  } catch (error) {
    api.log.warn("the old application credential of a cluster could not be revoked", {
      ...keyOf(cluster),
      credential: before.id,
      error: messageOf(error),
    });
  }
}

async function createCredential(
  api: Api,
  { caller, signal }: Call,
  { name, cluster }: { name: string; cluster: string },
) {
  try {
    return await api.credentials.replace(
      caller.token,
      caller.userId,
      // Unrestricted, so that it can delete itself when the cluster is gone.
      { name, description: `Cluster ${cluster} of the Magnum API`, unrestricted: true },
      { signal },
    );
  } catch (error) {
    if (!isForbidden(error) && !isUnauthorized(error)) throw error;
    throw forbidden(
      caller.ofApplicationCredential
        ? "The cluster needs an application credential of its own, and Keystone does not let a restricted application credential create one. Use a password, or an unrestricted application credential."
        : "Keystone does not let this token create the application credential that the cluster needs.",
    );
  }
}
