import type { MagnumCluster } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { keyOf } from "@causeway/kubernetes";
import { isForbidden, isUnauthorized } from "@causeway/openstack";
import { readCredential, trusteeOf, type ClusterCredential } from "../cluster/credentials.ts";
import { isPending } from "../cluster/names.ts";
import type { Api, Call } from "../call/call.ts";
import { forbidden } from "../wire/error.ts";
import { credentialRoles } from "./credential-roles.ts";
import { requireStill, withdrawIfGone } from "./renewed-row.ts";
import { isUnused, writeCredential, type CredentialWrite } from "./write-credential.ts";

/**
 * Gives a cluster an application credential of its own, in place of the one that it has: of a user of its own where the
 * installation has an account for that, else of the caller. The old one is revoked when the new one is written. Of two
 * requests at the same time one is refused, and what the other one wrote remains valid.
 * @throws MagnumError 403 when Keystone does not let the caller's token create one, or the caller lacks the role, 409
 */
export async function giveCredentials(api: Api, call: Call, cluster: MagnumCluster): Promise<ClusterCredential> {
  const { signal } = call;
  const before = await readCredential(api.store.client, cluster, signal);
  const made = await issueCredential(api, call, cluster, (before?.serial ?? 0) + 1);
  try {
    await writeCredential(api, cluster, { before, made }, signal);
  } catch (error) {
    await giveBack(api, cluster, made);
    throw error;
  }
  if (before !== undefined) await revoke(api, cluster, { before, made }, signal);
  // A row that no client sees yet is shown next, which fails when it is gone.
  if (!isPending(cluster)) await requireStill(api, cluster, made);
  return made;
}

async function issueCredential(
  api: Api,
  call: Call,
  cluster: MagnumCluster,
  serial: number,
): Promise<ClusterCredential> {
  const { spec } = cluster;
  if (api.trustees !== undefined) {
    const { keypair, ...trustee } = trusteeOf(cluster);
    const publicKey = keypair && (await api.cloud.publicKey(call.caller.token, keypair.name, call.signal));
    const own = { ...trustee, ...(keypair ? { keypair: { ...keypair, publicKey } } : {}) };
    return { ...(await api.trustees.issue(own, serial, call.signal)), isTrustee: true, serial };
  }
  const name = `magnum-${spec.uuid}-${api.newId()}`;
  const { id, secret } = await createCredential(api, call, { name, cluster: spec.name });
  return { userId: call.caller.userId, id, secret, serial };
}

/**
 * Of a credential that the cluster does not have. One of a user of the cluster's own is deleted with the next renewal,
 * or with the user. Where it is not known whether it was written it remains: a cluster that is shown needs it.
 */
async function giveBack(api: Api, cluster: MagnumCluster, made: ClusterCredential): Promise<void> {
  const facts = { ...keyOf(cluster), credential: made.id };
  if (made.isTrustee === true) {
    // The user was perhaps created again after a deletion had deleted it.
    if (isPending(cluster)) return;
    await withdrawIfGone(api, cluster, made).catch((error: unknown) => {
      const text = "it is not known whether a cluster is gone: its user is left to the sweep of users";
      api.log.warn(text, { ...facts, error: messageOf(error) });
    });
    return;
  }
  if (!isPending(cluster) && !(await isUnused(api, cluster, made))) {
    api.log.warn("it is not known whether an application credential was written: it is not revoked", facts);
    return;
  }
  await api.credentials.revoke(made).catch((error: unknown) => {
    const text = "an application credential that the cluster does not have could not be revoked";
    api.log.warn(text, { ...facts, error: messageOf(error) });
  });
}

async function revoke(
  api: Api,
  cluster: MagnumCluster,
  { before, made }: CredentialWrite & { readonly before: ClusterCredential },
  signal: AbortSignal,
): Promise<void> {
  try {
    if (before.isTrustee !== true) await api.credentials.revoke(before);
    else if (made.isTrustee === true) await api.trustees?.retire(made.serial ?? 0, trusteeOf(cluster), signal);
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
  const roles = credentialRoles(caller, api.credentialRoles).map((role) => ({ name: role }));
  try {
    return await api.credentials.create(
      caller.token,
      caller.userId,
      // Unrestricted, so that it can delete itself when the cluster is gone. Others that it makes have no more roles.
      { name, description: `Cluster ${cluster} of the Magnum API`, roles, unrestricted: true },
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
