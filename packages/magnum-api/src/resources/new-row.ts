import { MagnumCluster } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { keyOf, type KubernetesClient } from "@causeway/kubernetes";
import { trusteeOf, type ClusterCredential } from "../cluster/credentials.ts";
import { isPending, pendingAnnotation } from "../cluster/names.ts";
import type { Api, Call } from "../call/call.ts";
import { giveCredentials } from "./give-credentials.ts";
import { withdraw } from "./renewed-row.ts";

/** The row of a cluster that no client sees yet. */
export function pendingRow(cluster: MagnumCluster, now: string): MagnumCluster {
  const annotations = { ...cluster.metadata.annotations, [pendingAnnotation]: now };
  return { ...cluster, metadata: { ...cluster.metadata, annotations } };
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

/** The credential and user of the cluster go with its row: a row that is left keeps them, for the controller. */
async function discard(api: Api, row: MagnumCluster, made: ClusterCredential | undefined): Promise<void> {
  if (!(await discardRow(api.store.client, row))) return;
  const signal = AbortSignal.timeout(REMOVE_DEADLINE);
  if (made !== undefined) await withdraw(api, row, made, signal);
  else await api.trustees?.remove(trusteeOf(row), signal);
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

function shown(row: MagnumCluster): MagnumCluster {
  const { [pendingAnnotation]: _, ...annotations } = row.metadata.annotations ?? {};
  return { ...row, metadata: { ...row.metadata, annotations } };
}

/** What fails once is often over at the next attempt: a row that remains holds its template for two minutes. */
const DISCARDS = 3;

/** Deletes a row unless it was shown meanwhile. True: it is gone, by this process or another one. */
export async function discardRow(client: KubernetesClient, row: MagnumCluster): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await discardOnce(client, row);
    } catch (error) {
      if (attempt === DISCARDS) throw error;
    }
  }
}

async function discardOnce(client: KubernetesClient, row: MagnumCluster): Promise<boolean> {
  const found = await client.find(MagnumCluster, keyOf(row));
  if (found === undefined || found.metadata.uid !== row.metadata.uid) return true;
  if (!isPending(found)) return false;
  const { uid = "", resourceVersion = "" } = found.metadata;
  await client.delete(MagnumCluster, keyOf(row), { preconditions: { uid, resourceVersion } });
  return true;
}
