import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { EventRecorder, Informers, ObjectKey } from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import { balancerMemory } from "./balancer/gather-balancer.ts";
import type { IngressConfig } from "./config/config.ts";
import { createGatewayController } from "./gateway/controller.ts";
import { createIngressController } from "./ingress/controller.ts";
import { StoredPoolRecord } from "./pool-record/pool-record.ts";

/** The cluster, the cloud and the configuration of the controller. */
export interface OctaviaIngressOptions {
  readonly config: IngressConfig;
  readonly informers: Informers;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  /** The ConfigMap in which a process leaves what it knows of pools to the next; undefined: none. */
  readonly poolRecord?: ObjectKey;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What the watch of the cloud lists while nothing is being changed: load balancers every five minutes, the rest every
 * ten: that is how late a change of another client may be noticed.
 */
export const watched = {
  rarely: ["floatingIps", "listeners", "pools"],
  intervals: { slow: 300_000, rare: 600_000 },
} as const;

/** The controllers of Ingresses and Gateways of one cluster. One process at a time may run them for a cluster. */
export function createOctaviaIngress(options: OctaviaIngressOptions): { run(signal: AbortSignal): Promise<void> } {
  const { cloud, watch, clock, config, informers, log, poolRecord: key } = options;
  const { client } = informers;
  const exists = (id: string): boolean => watch.pools.get(id) !== undefined;
  const record = key && new StoredPoolRecord({ client, key, cluster: config.clusterName, exists, clock, log });
  const memory = balancerMemory(cloud, watch, clock, { ...config, record });
  const controllers = [
    createIngressController({ ...options, memory }),
    createGatewayController({ ...options, memory }),
  ];
  return {
    async run(signal) {
      // A token takes time, and so does the cluster's first answer: neither waits for the other.
      cloud.projectId().catch(() => {});
      const guarded = [...controllers, ...(record ? [record] : [])].map((each) =>
        each.run(signal).catch((error: unknown) => {
          if (!signal.aborted) log.error("a controller ended", { error: messageOf(error) });
        }),
      );
      await Promise.all(guarded);
    },
  };
}
