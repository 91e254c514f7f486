import { MagnumCluster } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { keyOf, removeFinalizer, type KubernetesClient } from "@causeway/kubernetes";
import { removeIfAny } from "../access/trustees.ts";
import { readCredential, trusteeOf, type ClusterCredential } from "../cluster/credentials.ts";
import { finalizer, isPending, pendingAnnotation } from "../cluster/names.ts";
import type { Api, Call } from "../call/call.ts";
import { conflict } from "../wire/error.ts";
import { giveCredentials } from "./give-credentials.ts";
import { withdraw } from "./renewed-row.ts";

/**
 * The row of a cluster that no client sees yet. It has its finalizer from the first write on: no deletion, however
 * early, ends before its credential is revoked.
 */
export function pendingRow(cluster: MagnumCluster, now: string): MagnumCluster {
  const annotations = { ...cluster.metadata.annotations, [pendingAnnotation]: now };
  return { ...cluster, metadata: { ...cluster.metadata, annotations, finalizers: [finalizer] } };
}

/**
 * Gives a row its credentials, and then shows it: a cluster that is shown has all that it needs. If that fails, the row
 * goes again; what a crash leaves is deleted by the controller.
 */
export async function finishRow(api: Api, call: Call, row: MagnumCluster): Promise<MagnumCluster> {
  let made: ClusterCredential | undefined;
  try {
    made = await giveCredentials(api, call, row);
    return await show(api, row, call.signal);
  } catch (error) {
    await discard(api, row, made).catch((cause: unknown) => {
      api.log.warn("the row of a cluster that was not created is left to the controller", {
        ...keyOf(row),
        error: messageOf(cause),
      });
    });
    throw error;
  }
}

/** Milliseconds, whether or not the client still waits. */
const REMOVE_DEADLINE = 30_000;

/**
 * The credential and user of the cluster go before its row: a row with a credential that cannot be revoked is left to
 * the controller.
 */
async function discard(api: Api, row: MagnumCluster, made: ClusterCredential | undefined): Promise<void> {
  const { client } = api.store;
  await discardRow(client, row, async () => {
    const signal = AbortSignal.timeout(REMOVE_DEADLINE);
    const credential = made ?? (await readCredential(client, row, signal));
    if (credential === undefined) await removeUser(api, row, signal);
    else await withdraw(api, row, credential, signal);
  });
}

/**
 * Deletes the user of a row without credentials. One that cannot be deleted does not keep the row, which no client sees
 * and which counts in quotas: what made the create fail often makes this fail, too, for as long as it lasts.
 */
async function removeUser(api: Api, row: MagnumCluster, signal: AbortSignal): Promise<void> {
  try {
    await removeIfAny(api.trustees, trusteeOf(row), signal);
  } catch (error) {
    api.log.warn("the user of a cluster that was not created is left to the sweep of users", {
      ...keyOf(row),
      cluster: row.spec.uuid,
      error: messageOf(error),
    });
  }
}

async function show(api: Api, row: MagnumCluster, signal: AbortSignal): Promise<MagnumCluster> {
  try {
    return await api.store.change(MagnumCluster, keyOf(row), shown, signal);
  } catch (error) {
    // It was written, though the answer was lost.
    const found = await api.store.client.find(MagnumCluster, keyOf(row), { signal });
    if (found?.metadata.uid === row.metadata.uid && found !== undefined && !isPending(found)) return found;
    throw error;
  }
}

/** @throws MagnumError 409 for one whose create took so long that the controller deletes it */
function shown(row: MagnumCluster): MagnumCluster {
  if (row.metadata.deletionTimestamp !== undefined)
    throw conflict(`The creation of cluster ${row.spec.name} took too long and was given up: create it again.`);
  const { [pendingAnnotation]: _, ...annotations } = row.metadata.annotations ?? {};
  return { ...row, metadata: { ...row.metadata, annotations } };
}

/**
 * Deletes a row unless it was shown meanwhile; `revoke` is done while its finalizer still holds it. What does not
 * succeed is left to the controller.
 */
export async function discardRow(
  client: KubernetesClient,
  row: MagnumCluster,
  revoke?: () => Promise<unknown>,
): Promise<void> {
  if (!(await repeated(() => deletePending(client, row)))) return;
  await revoke?.();
  await repeated(() => removeFinalizer(client, MagnumCluster, row, { finalizer }));
}

/** What fails once is often over at the next attempt: a row that remains holds its template for two minutes. */
const ATTEMPTS = 3;

async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** False: it was shown meanwhile. True: it is gone, or being deleted, by this process or another one. */
async function deletePending(client: KubernetesClient, row: MagnumCluster): Promise<boolean> {
  const found = await client.find(MagnumCluster, keyOf(row));
  if (found === undefined || found.metadata.uid !== row.metadata.uid) return true;
  if (!isPending(found)) return false;
  const { uid = "", resourceVersion = "", deletionTimestamp } = found.metadata;
  if (deletionTimestamp !== undefined) return true;
  await client.delete(MagnumCluster, keyOf(row), { preconditions: { uid, resourceVersion } });
  return true;
}
