import { MagnumCluster } from "@causeway/api";
import { isConflict, isNotFound, keyOf } from "@causeway/kubernetes";
import type { Api } from "../call/call.ts";
import { trusteeOf, type ClusterCredential } from "../cluster/credentials.ts";
import { finalizer, renewedAnnotation } from "../cluster/names.ts";
import { notFound } from "../wire/error.ts";

/**
 * A deletion may have read the cluster's Secret before a new credential was in it, and revoke another one. Of a row
 * that is there still the deletion is made to read again; of one that is gone the credential is revoked here.
 * @throws MagnumError 404
 */
export async function requireStill(api: Api, cluster: MagnumCluster, made: ClusterCredential): Promise<void> {
  if (!(await withdrawIfGone(api, cluster, made))) return;
  throw notFound("Cluster", cluster.spec.uuid);
}

/** Milliseconds, whether or not the client still waits. */
const DEADLINE = 30_000;

/** True: the cluster is gone, and so is the credential. */
export async function withdrawIfGone(api: Api, cluster: MagnumCluster, made: ClusterCredential): Promise<boolean> {
  const signal = AbortSignal.timeout(DEADLINE);
  if (await isNoticed(api, cluster, made, signal)) return false;
  await withdraw(api, cluster, made, signal);
  return true;
}

/** Revokes a credential of a cluster that is gone, and with it the cluster's user. */
export async function withdraw(
  api: Api,
  cluster: MagnumCluster,
  made: ClusterCredential,
  signal: AbortSignal,
): Promise<void> {
  if (made.isTrustee === true) await api.trustees?.remove(trusteeOf(cluster), signal);
  else await api.credentials.revoke(made, { signal });
}

const ATTEMPTS = 20;

/**
 * True: a deletion that has begun, or that begins later, reads the credential as it is now. One that has begun takes
 * the finalizer off the row as it was before it read the Secret, and cannot once the row was changed. False: it has
 * ended.
 */
async function isNoticed(
  api: Api,
  cluster: MagnumCluster,
  made: ClusterCredential,
  signal: AbortSignal,
): Promise<boolean> {
  const { client } = api.store;
  for (let attempt = 1; ; attempt += 1) {
    const row = await client.find(MagnumCluster, keyOf(cluster), { signal });
    if (row === undefined || row.metadata.uid !== cluster.metadata.uid) return false;
    if (row.metadata.deletionTimestamp === undefined) return true;
    if (row.metadata.finalizers?.includes(finalizer) !== true) return false;
    const annotations = { ...row.metadata.annotations, [renewedAnnotation]: made.id };
    try {
      await client.update(MagnumCluster, { ...row, metadata: { ...row.metadata, annotations } }, { signal });
      return true;
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
