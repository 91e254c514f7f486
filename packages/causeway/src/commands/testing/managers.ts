import { createClusterApi, type ClusterApiOptions } from "@causeway/cluster-api";
import { createOpenStackInfrastructure } from "@causeway/cluster-api-openstack";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { createCloudPool } from "@causeway/openstack";

/**
 * The controllers of Cluster API and of its OpenStack provider, as one process runs them; the returned function is kill
 * -9 as far as they are concerned.
 */
export function runManagers(client: KubernetesClient, kinds: ClusterApiOptions["kinds"]): () => Promise<void> {
  const stop = new AbortController();
  const options = { clock: systemClock, log: silentLog };
  const informers = createInformers(client, options);
  const remoteClusters = createRemoteClusters({ informers, ...options });
  const clouds = createCloudPool({ intervals: { fast: 20, fastest: 20 } });
  const events = createEventRecorder(client, { component: "test" });
  const core = createClusterApi({ informers, remoteClusters, kinds, events, ...options });
  const provider = createOpenStackInfrastructure({ informers, clouds, events, ...options });
  const all = [informers, remoteClusters, core, provider];
  const running = Promise.all(all.map((one) => one.run(stop.signal)));
  return async () => {
    stop.abort();
    await clouds.close();
    await running.catch(() => {});
    await events.flush();
  };
}
