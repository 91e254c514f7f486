import type { Cluster } from "../contract/cluster.ts";
import type { ControlledCluster, RunningControllers, StartClusterControllers } from "../interface.ts";
import { LocalClient } from "./client.ts";

/**
 * Starts the controllers that the server's owner brings for a cluster; `stop` ends them, also while they are still
 * starting.
 */
export function startOwners(cluster: Cluster, start: StartClusterControllers): RunningControllers {
  const stopping = new AbortController();
  const controlled: ControlledCluster = {
    name: cluster.name,
    clock: cluster.clock,
    log: cluster.log,
    podCidr: cluster.podCidr,
    client: (user) => new LocalClient(cluster, user),
    charge: (what, work) => cluster.thread.run({ cluster: cluster.name, request: what }, work),
    whenStored: (resources, signal) => whenStored(cluster, resources, AbortSignal.any([signal, stopping.signal])),
  };
  const running = start(controlled);
  return {
    async stop() {
      stopping.abort();
      await running.stop();
    },
  };
}

/** Resolves when one of `resources` ("group/plural") has an object; rejects when `signal` aborts. */
async function whenStored(cluster: Cluster, resources: readonly string[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const wanted = new Set(resources);
  const isStored = cluster.store
    .usage(cluster.name)
    .some(({ resource, objects }) => objects > 0 && wanted.has(resource));
  if (isStored) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = cluster.changes.listen(({ type, resource }) => {
    if (type === "ADDED" && wanted.has(resource.storage)) resolve();
  });
  const end = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", end, { once: true });
  try {
    await promise;
  } finally {
    stop();
    signal.removeEventListener("abort", end);
  }
}
