import {
  Cluster,
  labels,
  Machine,
  OpenStackCluster,
  OpenStackClusterIdentity,
  OpenStackMachine,
  OpenStackServer,
} from "@causeway/api";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import { Namespace, Secret, type EventRecorder, type Informers } from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { ImageReferences } from "./identity/images.ts";
import { clusterIdentityOf, identityOf, runIdentityHolder } from "./identity/holder.ts";
import { Sessions } from "./identity/sessions.ts";
import { runClusterController } from "./openstackcluster/controller.ts";
import { runMachineController } from "./openstackmachine/controller.ts";
import { runServerController } from "./openstackserver/controller.ts";
import { Holds } from "./reactions/holds.ts";
import { Interests } from "./reactions/interests.ts";

export interface OpenStackInfrastructureOptions {
  /** Of the management cluster. */
  readonly informers: Informers;
  readonly clouds: CloudPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  /** Work with the objects of this namespace only. */
  readonly namespace?: string;
  /** Work only with clusters, machines and servers whose label cluster.x-k8s.io/watch-filter has this value. */
  readonly watchFilter?: string;
  /** PEM of authorities for clouds whose Secret has none. */
  readonly ca?: string;
}

export interface OpenStackInfrastructure {
  /** Runs the controllers until the signal aborts and what they had in hand is done. */
  run(signal: AbortSignal): Promise<void>;
}

/** The infrastructure provider: OpenStackClusters and OpenStackMachines become resources of OpenStack. */
export function createOpenStackInfrastructure(options: OpenStackInfrastructureOptions): OpenStackInfrastructure {
  const { informers, clouds, clock, log, events } = options;
  const scope = options.namespace === undefined ? {} : { namespace: options.namespace };
  const filter = options.watchFilter;
  const own = filter === undefined ? scope : { ...scope, labelSelector: `${labels.watchFilter}=${filter}` };
  const clusters = informers.for(Cluster, scope);
  const machines = informers.for(Machine, scope);
  const openStackClusters = informers.for(OpenStackCluster, own);
  const openStackMachines = informers.for(OpenStackMachine, own);
  const openStackServers = informers.for(OpenStackServer, own);
  // An OpenStackClusterIdentity may lead to a Secret of any namespace.
  const secrets = informers.for(Secret);
  const clusterIdentities = informers.for(OpenStackClusterIdentity);
  const namespaces = informers.for(Namespace);
  informers.index(openStackMachines, {
    cluster: clusterOf,
    identity: identityOf,
    clusterIdentity: clusterIdentityOf,
  });
  informers.index(machines, {
    secret: ({ metadata, spec }) => within(metadata.namespace, spec.bootstrap.dataSecretName),
  });
  informers.index(openStackClusters, {
    cluster: ({ metadata }) => within(metadata.namespace, metadata.labels?.[labels.clusterName]),
    identity: identityOf,
    clusterIdentity: clusterIdentityOf,
  });
  const clusterInterests = new Interests();
  const machineInterests = new Interests();
  const serverInterests = new Interests();
  const images = new ImageReferences(informers, (interest) => {
    machineInterests.notify([interest]);
    serverInterests.notify([interest]);
  });
  const sessions = new Sessions({
    clouds,
    ca: options.ca,
    objects: {
      secret: (key) => secrets.get(key),
      clusterIdentity: (name) => clusterIdentities.get({ namespace: "", name }),
      namespace: (name) => namespaces.get({ namespace: "", name }),
    },
    clock,
    onOpen({ watch }) {
      const ofClusters = [
        "networks",
        "subnets",
        "routers",
        "ports",
        "securityGroups",
        "floatingIps",
        "loadBalancers",
        "listeners",
        "pools",
      ] as const;
      clusterInterests.listen(watch, ofClusters);
      machineInterests.listen(watch, ["servers", "ports", "volumes"]);
      serverInterests.listen(watch, ["servers", "ports", "volumes"]);
    },
  });
  const holds = new Holds(clock);
  const shared = {
    clusters,
    clusterIdentities,
    namespaces,
    machines,
    openStackClusters,
    openStackMachines,
    openStackServers,
    secrets,
    sessions,
    holds,
    clock,
  };
  return {
    async run(signal) {
      const caches = [
        openStackServers,
        clusters,
        machines,
        openStackClusters,
        openStackMachines,
        secrets,
        clusterIdentities,
        namespaces,
      ];
      await Promise.all(caches.map((cache) => cache.whenSynced(signal))).catch(() => {});
      if (signal.aborted) return;
      const base = { informers, clock, log, events, metrics: options.metrics };
      await Promise.all([
        runIdentityHolder({ ...base, secrets, openStackClusters, openStackMachines }, signal),
        runClusterController(
          { ...base, sources: { ...shared, machines: openStackMachines, interests: clusterInterests } },
          signal,
        ),
        runServerController(
          { ...base, sources: { ...shared, interests: serverInterests, images, looks: new WeakMap() } },
          signal,
        ),
        runMachineController(
          { ...base, sources: { ...shared, interests: machineInterests, images, looks: new WeakMap() } },
          signal,
        ),
      ]);
    },
  };
}

function clusterOf({ metadata }: OpenStackMachine): string[] {
  return within(metadata.namespace, metadata.labels?.[labels.clusterName]);
}

function within(namespace: string | undefined, name: string | undefined): string[] {
  return name === undefined ? [] : [`${namespace ?? ""}/${name}`];
}
