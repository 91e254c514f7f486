import { messageOf, type Clock, type Log } from "@causeway/foundation";
import type { EventRecorder, Informers } from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import type { CloudControllerConfig } from "./config/config.ts";
import { createNodeController } from "./node/controller.ts";
import { createServiceController } from "./service/controller.ts";

export interface CloudControllerManagerOptions {
  /** Of the workload cluster. */
  readonly informers: Informers;
  readonly cloud: Cloud;
  /** The informers of that cloud; other clusters may share them. */
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  /** What names of load balancers begin with: two clusters of one project must not share it. */
  readonly clusterName: string;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The cloud controller manager of one workload cluster: nodes, and Services of type LoadBalancer. The two stand alone: a
 * cloud without Octavia still gets its nodes initialised.
 */
export function createCloudControllerManager(options: CloudControllerManagerOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const nodes = createNodeController(options);
  const services = createServiceController(options);
  return {
    async run(signal) {
      const guarded = [nodes.run(signal), services.run(signal)].map((running) =>
        running.catch((error: unknown) => {
          if (!signal.aborted) options.log.error("a controller ended", { error: messageOf(error) });
        }),
      );
      await Promise.all(guarded);
    },
  };
}
