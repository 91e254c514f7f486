import { Cluster, finalizers } from "@causeway/api";
import { silentLog, systemClock } from "@causeway/foundation";
import { createInformers, keyOf, type KubernetesClient } from "@causeway/kubernetes";

/**
 * In place of Cluster API's controllers: a Cluster that is deleted has nothing to wait for, and loses its finalizer.
 */
export async function playCore(client: KubernetesClient): Promise<{ stop(): Promise<void> }> {
  const informers = createInformers(client, { clock: systemClock, log: silentLog });
  const release = async (cluster: Cluster): Promise<void> => {
    const { deletionTimestamp, finalizers: held = [] } = cluster.metadata;
    if (deletionTimestamp === undefined || !held.includes(finalizers.cluster)) return;
    const left = held.filter((each) => each !== finalizers.cluster);
    const body = { metadata: { finalizers: left, resourceVersion: cluster.metadata.resourceVersion } };
    // One that changed meanwhile is seen again.
    await client.patch(Cluster, keyOf(cluster), { type: "merge", body }).catch(() => {});
  };
  informers.for(Cluster).onChange(({ object }) => void release(object));
  const stopping = new AbortController();
  const running = informers.run(stopping.signal);
  await informers.whenSynced();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
