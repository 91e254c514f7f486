import { createHash } from "node:crypto";
import { canonicalJson, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { annotations, Machine, MachinePool, type Cluster, type OpenStackCluster } from "@causeway/api";
import {
  createCloudControllerManager,
  defaultCloudConfig,
  releaseLoadBalancers,
} from "@causeway/cloud-controller-manager";
import { resolveIdentity } from "@causeway/cluster-api-openstack";
import { createEventRecorder, type Informers, type RemoteCluster } from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { memberIngresses } from "./ingress.ts";
import { loadBalancerOf } from "./load-balancers.ts";
import { memberVolumes } from "./volumes.ts";

/** The workload cluster, and what all members have in common. */
export interface MemberOptions {
  /** Of the management cluster. */
  readonly informers: Informers;
  readonly clouds: CloudPool;
  readonly provider: string | undefined;
  /** Installs the Cinder CSI node plugin in the cluster. */
  readonly csiImage?: string | undefined;
  readonly withVolumes: boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly cluster: Cluster;
  readonly infrastructure: OpenStackCluster;
  readonly remote: RemoteCluster;
}

/** The cloud controller manager of one workload cluster, and the controllers of its volumes and Ingresses. */
export interface Member {
  readonly remote: RemoteCluster;
  /** `identityDigest` of the credentials that it works with. */
  readonly identity: string;
  /** `loadBalancersDigest` of the settings that it has. */
  readonly loadBalancers: string;
  /** Starts to give back every load balancer of the cluster's Services and Ingresses. Repeating it is harmless. */
  release(): void;
  /** The deletion is under way, or was completed. */
  readonly isReleasing: boolean;
  /** True when none is left. */
  readonly released: boolean;
  stop(): Promise<void>;
}

/**
 * Reads the cluster's credentials, then starts. It runs until it is stopped, or the connection to the cluster ends.
 * Throws what `resolveIdentity` throws.
 */
export async function startMember(options: MemberOptions, signal: AbortSignal): Promise<Member> {
  const { cluster, remote, clock } = options;
  const log = options.log.with({ cluster: cluster.metadata.name });
  const config = await resolveIdentity({ client: options.informers.client, owner: options.infrastructure }, signal);
  const { cloud, watch } = options.clouds.get(config);
  const clusterName = cloudNameOf(cluster);
  const stopping = new AbortController();
  const life = AbortSignal.any([stopping.signal, remote.signal]);
  const loadBalancer = loadBalancerOf(cluster, options.provider);
  const manager = createCloudControllerManager({
    informers: remote.informers,
    cloud,
    watch,
    brakes: options.metrics,
    config: { ...defaultCloudConfig(), loadBalancer },
    clusterName,
    clock,
    log,
    events: createEventRecorder(remote.client, { component: "cloud-controller-manager", clock }),
  });
  const hasServer = serversOf(options.informers, cluster);
  const volumes = hasVolumes(options)
    ? memberVolumes({ cloud, watch, remote, clusterName, hasServer, csiImage: options.csiImage, clock, log })
    : undefined;
  const ingresses = hasIngresses(cluster)
    ? memberIngresses({
        cloud,
        watch,
        remote,
        clusterName,
        infrastructure: options.infrastructure,
        provider: options.provider,
        metrics: options.metrics,
        clock,
        log,
      })
    : undefined;
  const ended = (what: string) => (error: unknown) => log.error(`${what} ended`, { error: messageOf(error) });
  const running = Promise.all([
    manager.run(life).catch(ended("the cloud controller manager")),
    volumes?.run(life).catch(ended("the controllers of volumes")),
    ingresses?.run(life).catch(ended("the controllers of Ingresses")),
  ]);
  let releasing: Promise<void> | undefined;
  let released = false;
  return {
    remote,
    identity: digestOf(config),
    loadBalancers: loadBalancersDigest(options),
    release() {
      releasing ??= Promise.all([
        releaseLoadBalancers({ informers: remote.informers, clock, log }, life),
        ingresses?.release(life),
      ]).then(
        () => {
          released = true;
        },
        (error: unknown) => {
          releasing = undefined;
          if (!life.aborted) log.warn("load balancers are not released yet", { error: messageOf(error) });
        },
      );
    },
    get isReleasing() {
      return releasing !== undefined;
    },
    get released() {
      return released;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * The name by which load balancers and volumes in the cloud are the cluster's. A cluster that was migrated keeps the
 * one that they had before.
 */
export const cloudNameOf = ({ metadata }: Cluster): string =>
  metadata.annotations?.[annotations.cloudClusterName] ?? `${metadata.namespace}-${metadata.name}`;

/** Whether the cluster gets the controllers of Cinder volumes, and a default StorageClass. */
export const hasVolumes = ({ withVolumes, cluster }: Pick<MemberOptions, "withVolumes" | "cluster">): boolean =>
  withVolumes && cluster.metadata.annotations?.[annotations.volumes] !== "none";

/** Whether Ingresses and Gateways of the cluster get load balancers from here. */
export const hasIngresses = ({ metadata }: Cluster): boolean =>
  metadata.annotations?.[annotations.ingress] === "octavia";

const digestOf = (config: unknown): string => createHash("sha256").update(canonicalJson(config)).digest("base64url");

/** Of the credentials that a cluster's infrastructure has now: another one needs another member. */
export async function identityDigest(
  { informers, infrastructure }: Pick<MemberOptions, "informers" | "infrastructure">,
  signal: AbortSignal,
): Promise<string> {
  return digestOf(await resolveIdentity({ client: informers.client, owner: infrastructure }, signal));
}

/** Of the settings of load balancers that the Cluster gives now: other ones need another member. */
export const loadBalancersDigest = ({ cluster, provider }: Pick<MemberOptions, "cluster" | "provider">): string =>
  digestOf(loadBalancerOf(cluster, provider));

/** Whether a server is a machine of the cluster, by its ID. */
function serversOf(informers: Informers, { metadata }: Cluster): (id: string) => boolean {
  const machines = informers.for(Machine);
  const pools = informers.for(MachinePool);
  return (id) => {
    const isOwn = ({ spec }: { readonly spec: { readonly clusterName: string } }) => spec.clusterName === metadata.name;
    const names = [
      ...machines
        .list(metadata.namespace)
        .filter(isOwn)
        .map(({ spec }) => spec.providerID),
      ...pools
        .list(metadata.namespace)
        .filter(isOwn)
        .flatMap(({ spec }) => spec.providerIDList ?? []),
    ];
    return names.some((name) => name?.split("/").at(-1) === id);
  };
}
