import type { Clock, Log } from "@causeway/foundation";
import { isNotFound, keyOf, Service, type Informers } from "@causeway/kubernetes";
import { isHeld, wantsLoadBalancer } from "./service/parameters/concern.ts";

/** The cluster and cloud whose load balancers are to go. */
export interface ReleaseOptions {
  /** Of the workload cluster, whose service controller is running. */
  readonly informers: Informers;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long (ms) between two checks whether Services are gone. */
const pause = 500;

/**
 * Deletes every Service of a cluster that is being deleted and has, or is to get, a load balancer; resolves when none
 * is left. Their finalizers see to it that "gone" means: load balancer and floating IP are gone too. Services that
 * others make meanwhile go as well.
 */
export async function releaseLoadBalancers(options: ReleaseOptions, signal: AbortSignal): Promise<void> {
  const { informers, clock, log } = options;
  const services = informers.for(Service);
  await services.whenSynced(signal);
  for (;;) {
    const left = services.list().filter((service) => wantsLoadBalancer(service) || isHeld(service));
    if (left.length === 0) return;
    for (const service of left.filter((s) => s.metadata.deletionTimestamp === undefined)) {
      log.info("deleting a Service of type LoadBalancer with its cluster", {
        service: `${service.metadata.namespace}/${service.metadata.name}`,
      });
      await informers.client.delete(Service, keyOf(service), { signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
    await clock.sleep(pause, signal);
  }
}
