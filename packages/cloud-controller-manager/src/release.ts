import type { Clock, Log } from "@causeway/foundation";
import { keyOf, Service, type Informers } from "@causeway/kubernetes";

export interface ReleaseOptions {
  /** Of the workload cluster, whose service controller is running. */
  readonly informers: Informers;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long (ms) between two looks whether Services are gone. */
const pause = 500;

/**
 * Deletes every Service of type LoadBalancer of a cluster that is being deleted, and resolves when none is left. Their finalizers
 * see to it that "gone" means: load balancer and floating IP are gone too. Services that others make meanwhile go as well.
 */
export async function releaseLoadBalancers(options: ReleaseOptions, signal: AbortSignal): Promise<void> {
  const { informers, clock, log } = options;
  const services = informers.for(Service);
  await services.whenSynced(signal);
  for (;;) {
    const left = services.list().filter((s) => s.spec.type === "LoadBalancer");
    if (left.length === 0) return;
    for (const service of left.filter((s) => s.metadata.deletionTimestamp === undefined)) {
      log.info("deleting a Service of type LoadBalancer with its cluster", {
        service: `${service.metadata.namespace}/${service.metadata.name}`,
      });
      await informers.client.delete(Service, keyOf(service), { signal });
    }
    await clock.sleep(pause, signal);
  }
}
