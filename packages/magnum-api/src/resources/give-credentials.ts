import { credentialsManifest, type MagnumCluster } from "@causeway/api";
import { keyOf, ownerReference, Secret } from "@causeway/kubernetes";
import { isForbidden, isUnauthorized, renderCloudsYaml } from "@causeway/openstack";
import { credentialData, readCredential } from "../cluster/credentials.ts";
import { CLOUD, magnumLabels } from "../cluster/names.ts";
import type { Api, Call } from "../server/call.ts";
import { forbidden } from "../wire/error.ts";

/**
 * Gives a cluster an application credential of its own in the caller's project, in place of the one that it has. The
 * old one is revoked when the new one is written.
 * @throws MagnumError 403 when Keystone does not let the caller's token create one
 */
export async function giveCredentials(api: Api, call: Call, cluster: MagnumCluster): Promise<void> {
  const { caller, signal } = call;
  const { spec, metadata } = cluster;
  const before = await readCredential(api.store.client, cluster, signal);
  const name = `magnum-${spec.uuid}-${api.newId().slice(0, 13)}`;
  const made = await createCredential(api, call, { name, cluster: spec.name });
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
  const own = credentialData({ userId: caller.userId, id: made.id, secret: made.secret });
  const secret = object as Secret;
  try {
    await api.store.client.apply(
      Secret,
      { ...secret, data: { ...secret.data, ...own } },
      { fieldManager: "causeway-magnum-api", signal },
    );
  } catch (error) {
    await api.credentials.revoke({ userId: caller.userId, id: made.id, secret: made.secret }).catch(() => {});
    throw error;
  }
  if (before) await revoke(api, cluster, before);
}

async function revoke(
  api: Api,
  cluster: MagnumCluster,
  credential: Parameters<Api["credentials"]["revoke"]>[0],
): Promise<void> {
  try {
    await api.credentials.revoke(credential);
  } catch {
    api.log.warn("the old application credential of a cluster could not be revoked", {
      ...keyOf(cluster),
      credential: credential.id,
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
