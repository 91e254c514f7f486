import type { Clock, Log, Metrics } from "@causeway/foundation";
import { createAddons, type Dial } from "@causeway/addons";
import { allKinds } from "@causeway/api";
import { createClusterApi } from "@causeway/cluster-api";
import { createOpenStackInfrastructure } from "@causeway/cluster-api-openstack";
import { createHostedControlPlane, type Backups, type ControlPlaneRuntime } from "@causeway/hosted-control-plane";
import {
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  type Informers,
  type KubernetesClient,
  type RemoteClusters,
} from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { advertiseTowardsRouter } from "./advertise.ts";
import { createFleet } from "../fleet/controller.ts";

/** What all controllers of `causeway up` work with. */
export interface ControllersOptions {
  readonly client: KubernetesClient;
  readonly clouds: CloudPool;
  readonly runtime: ControlPlaneRuntime;
  /** Where control planes are restored from; undefined: none is. */
  readonly backups?: Backups | undefined;
  /** The host that hosted control planes are reached at; undefined: found for each from its cluster's router. */
  readonly advertise: string | undefined;
  /** The load balancer provider of workload clusters' Services; undefined: the cloud's default. */
  readonly provider: string | undefined;
  /** The image of the Cinder CSI node plugin of workload clusters; undefined: it is not installed. */
  readonly csiImage?: string | undefined;
  /** Whether the controllers of workload clusters' volumes run here; false: the clusters run drivers of their own. */
  readonly withVolumes: boolean;
  /** Connects to addresses inside workload clusters; undefined: no tunnel leads there. */
  readonly dial: Dial | undefined;
  /** Where reconciles that do not converge are counted. */
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** All controllers of `causeway up`, with their caches. */
export interface Controllers {
  readonly informers: Informers;
  readonly remoteClusters: RemoteClusters;
  /** Runs every controller until the signal aborts and what they had in hand is done. */
  run(signal: AbortSignal): Promise<void>;
}

/** Every controller of a management cluster, on one set of informers. */
export function createControllers(options: ControllersOptions): Controllers {
  const { client, clouds, metrics, clock, log } = options;
  const informers = createInformers(client, { clock, log });
  const remoteClusters = createRemoteClusters({ informers, clock, log });
  const recorder = (component: string) => createEventRecorder(client, { component, clock });
  const components = [
    createClusterApi({
      informers,
      metrics,
      remoteClusters,
      kinds: allKinds,
      clock,
      log: log.with({ component: "cluster-api" }),
      events: recorder("cluster-api"),
    }),
    createOpenStackInfrastructure({
      informers,
      metrics,
      clouds,
      clock,
      log: log.with({ component: "cluster-api-openstack" }),
      events: recorder("cluster-api-openstack"),
    }),
    createHostedControlPlane({
      informers,
      metrics,
      remoteClusters,
      runtime: options.runtime,
      ...(options.backups ? { backups: options.backups } : {}),
      advertise: options.advertise === undefined ? advertiseTowardsRouter(informers) : async () => options.advertise,
      clock,
      log: log.with({ component: "hosted-control-plane" }),
      events: recorder("hosted-control-plane"),
    }),
    createAddons({
      informers,
      metrics,
      remoteClusters,
      ...(options.dial ? { dial: options.dial } : {}),
      clock,
      log: log.with({ component: "addons" }),
      events: recorder("causeway-addons"),
    }),
    createFleet({
      informers,
      metrics,
      remoteClusters,
      clouds,
      provider: options.provider,
      csiImage: options.csiImage,
      withVolumes: options.withVolumes,
      clock,
      log: log.with({ component: "fleet" }),
      events: recorder("fleet"),
    }),
  ];
  return {
    informers,
    remoteClusters,
    async run(signal) {
      await Promise.all([
        informers.run(signal),
        remoteClusters.run(signal),
        ...components.map((component) => component.run(signal)),
      ]);
    },
  };
}
