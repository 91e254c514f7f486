import { messageOf, type Cidr, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { EventRecorder, Informers } from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import type { CloudControllerConfig } from "./config/config.ts";
import { createNodeController } from "./node/controller.ts";
import { createRouteController } from "./route/controller.ts";
import { NodesLeft } from "./service/memory/nodes-left.ts";
import { createServiceController } from "./service/controller.ts";

/** The controllers of a cloud controller manager, by the names that its flag has. */
export const controllerNames = ["cloud-node", "cloud-node-lifecycle", "service", "route"] as const;
/** A controller that can be switched on or off. */
export type ControllerName = (typeof controllerNames)[number];

/** The cluster, the cloud and the controllers of a manager. */
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
  /** Number of Services that are reconciled at once; default 8. */
  readonly serviceSyncs?: number;
  /** Addresses of pods: routes inside them are ours. Without them no routes are kept. */
  readonly clusterCidrs?: readonly Cidr[];
  /** Where reconciles are measured, under cloud-provider-openstack's names. */
  readonly metrics?: Metrics;
  /**
   * Where reconciles that do not converge are counted. Default `metrics`. Managers of several clusters may share it.
   */
  readonly brakes?: Metrics;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What a watch of the cloud for this manager alone may read every five minutes only: places, which are listed when
 * one is missed, and ports, unless something on them is to be put right.
 */
export function rarelyWatched(config: CloudControllerConfig): ("networks" | "subnets" | "ports")[] {
  const { loadBalancer, routerId } = config;
  const kept = loadBalancer.manageSecurityGroups || routerId !== undefined;
  return kept ? ["networks", "subnets"] : ["networks", "subnets", "ports"];
}

/**
 * The cloud controller manager of one workload cluster: nodes, Services of type LoadBalancer, and routes to pods. Each
 * stands alone: a cloud without Octavia still gets its nodes initialised.
 */
export function createCloudControllerManager(options: CloudControllerManagerOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { controllers = new Set(controllerNames) } = options;
  const initialise = controllers.has("cloud-node");
  const lifecycle = controllers.has("cloud-node-lifecycle");
  // Both controllers are needed for it: one sees the members, the other writes Nodes.
  const nodesLeft = options.config.loadBalancer.followNodes && controllers.has("service") ? new NodesLeft() : undefined;
  const running = [
    ...(initialise || lifecycle
      ? [createNodeController({ ...options, nodesLeft, duties: { initialise, lifecycle } })]
      : []),
    ...(controllers.has("service") ? [createServiceController({ ...options, nodesLeft })] : []),
    ...(controllers.has("route") ? routes(options) : []),
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

/** The controller of routes, where cloud.conf names a router. */
function routes(options: CloudControllerManagerOptions): { run(signal: AbortSignal): Promise<void> }[] {
  const { config, clusterCidrs = [], log } = options;
  if (config.routerId === undefined) return [];
  if (clusterCidrs.length > 0) return [createRouteController({ ...options, routerId: config.routerId, clusterCidrs })];
  log.warn("[Route] router-id is set, but the pods' addresses are not known: no routes are kept");
  return [];
}
