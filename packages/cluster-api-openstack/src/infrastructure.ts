import type { Clock, Log, Metrics } from "@causeway/foundation";
import type { EventRecorder, Informers, Shards } from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { runPoolController } from "./floatingippool/controller.ts";
import { runIdentityHolder } from "./identity/holder/controller.ts";
import { runClusterController } from "./openstackcluster/controller.ts";
import { runMachineController } from "./openstackmachine/controller.ts";
import { runTemplateController } from "./openstackmachinetemplate/controller.ts";
import { runServerController } from "./openstackserver/controller.ts";
import { openSources } from "./sources.ts";

/** The management cluster, the clouds, and switches of the controllers. */
export interface OpenStackInfrastructureOptions {
  /** Of the management cluster. */
  readonly informers: Informers;
  readonly clouds: CloudPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  /** The namespaces whose objects this process works on. Default: all. */
  readonly shards?: Shards | undefined;
  /** Work with the objects of this namespace only. */
  readonly namespace?: string;
  /** Work only with clusters, machines and servers whose label cluster.x-k8s.io/watch-filter has this value. */
  readonly watchFilter?: string;
  /** PEM of authorities for clouds whose Secret has none. */
  readonly ca?: string;
}

/** The controllers of the OpenStack provider, to run until a signal aborts. */
export interface OpenStackInfrastructure {
  /** Runs the controllers until the signal aborts and what they had in hand is done. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The infrastructure provider: OpenStackClusters and OpenStackMachines become resources of OpenStack.
 * @example
 * const clouds = createCloudPool();
 * const provider = createOpenStackInfrastructure({ informers, clouds, events, clock: systemClock, log });
 * await Promise.all([informers.run(signal), provider.run(signal)]);
 */
export function createOpenStackInfrastructure(options: OpenStackInfrastructureOptions): OpenStackInfrastructure {
  const { informers, clock, log, events, metrics, shards } = options;
  const sources = openSources(options);
  const { secrets, openStackClusters, openStackMachines } = sources.machine;
  return {
    async run(signal) {
      const stop = shards?.beforeWork((life) => informers.relist(AbortSignal.any([signal, life])));
      await sources.whenSynced(signal).catch(() => {});
      if (signal.aborted) return stop?.();
      const base = { informers, clock, log, events, metrics, shards };
      await Promise.all([
        runIdentityHolder({ ...base, secrets, openStackClusters, openStackMachines }, signal),
        runClusterController({ ...base, sources: sources.cluster }, signal),
        runServerController({ ...base, sources: sources.server }, signal),
        runPoolController({ ...base, sources: sources.pool }, signal),
        runTemplateController({ ...base, sources: sources.template }, signal),
        runMachineController({ ...base, sources: sources.machine }, signal),
      ]).finally(stop);
    },
  };
}
