import { messageOf, type Clock, type Log } from "@causeway/foundation";
import type { EventRecorder, Informers } from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import type { CloudControllerConfig } from "./config/config.ts";
import { createNodeController } from "./node/controller.ts";
import { createServiceController } from "./service/controller.ts";

/** The controllers of a cloud controller manager, by the names that its flag has. */
export const controllerNames = ["cloud-node", "cloud-node-lifecycle", "service", "route"] as const;
export type ControllerName = (typeof controllerNames)[number];

export interface CloudControllerManagerOptions {
  /** Of the workload cluster. */
  readonly informers: Informers;
  readonly cloud: Cloud;
  /** The informers of that cloud; other clusters may share them. */
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  /** What names of load balancers begin with: two clusters of one project must not share it. */
  readonly clusterName: string;
  /** Which to run; default all. */
  readonly controllers?: ReadonlySet<ControllerName>;
  /** Services worked on at once; default 8. */
  readonly serviceSyncs?: number;
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
  const { controllers = new Set(controllerNames) } = options;
  const initialise = controllers.has("cloud-node");
  const lifecycle = controllers.has("cloud-node-lifecycle");
  const running = [
    ...(initialise || lifecycle ? [createNodeController({ ...options, duties: { initialise, lifecycle } })] : []),
    ...(controllers.has("service") ? [createServiceController(options)] : []),
  ];
  return {
    async run(signal) {
      const guarded = running.map((controller) =>
        controller.run(signal).catch((error: unknown) => {
          if (!signal.aborted) options.log.error("a controller ended", { error: messageOf(error) });
        }),
      );
      await Promise.all(guarded);
    },
  };
}
