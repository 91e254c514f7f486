import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { EventRecorder, Informers } from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import { balancerMemory } from "./balancer/gather-balancer.ts";
import type { IngressConfig } from "./config/config.ts";
import { createGatewayController } from "./gateway/controller.ts";
import { createIngressController } from "./ingress/controller.ts";

export interface OctaviaIngressOptions {
  readonly config: IngressConfig;
  readonly informers: Informers;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What the watch of the cloud may list every five minutes only, while nothing is being changed: load balancers are listed each minute, and show
 * when a part of theirs comes or goes.
 */
export const rarelyWatched = ["floatingIps", "listeners", "pools"] as const;

/** The controllers of Ingresses and Gateways of one cluster. One process at a time may run them for a cluster. */
export function createOctaviaIngress(options: OctaviaIngressOptions): { run(signal: AbortSignal): Promise<void> } {
  const { cloud, watch, clock, config, log } = options;
  const memory = balancerMemory(cloud, watch, clock, config);
  const controllers = [
    createIngressController({ ...options, memory }),
    createGatewayController({ ...options, memory }),
  ];
  return {
    async run(signal) {
      const guarded = controllers.map((controller) =>
        controller.run(signal).catch((error: unknown) => {
          if (!signal.aborted) log.error("a controller ended", { error: messageOf(error) });
        }),
      );
      await Promise.all(guarded);
    },
  };
}
