import {
  Cluster,
  IPAddress,
  IPAddressClaim,
  labels,
  Machine,
  OpenStackCluster,
  OpenStackClusterIdentity,
  OpenStackFloatingIPPool,
  OpenStackMachine,
  OpenStackMachineTemplate,
  OpenStackServer,
} from "@causeway/api";
import type { Clock, Log } from "@causeway/foundation";
import { Namespace, Secret, type Informers, type KubeObject, type ObjectKey, type Shards } from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { clusterIdentityOf, identityOf } from "./identity/holder/controller.ts";
import { poolOf, type PoolSources } from "./floatingippool/gather.ts";
import { ImageReferences } from "./identity/images.ts";
import { Sessions } from "./identity/sessions.ts";
import type { ClusterSources } from "./openstackcluster/gather.ts";
import type { MachineSources } from "./openstackmachine/gather.ts";
import { clusterOfTemplate, templateOf, type TemplateSources } from "./openstackmachinetemplate/gather.ts";
import type { ServerSources } from "./openstackserver/gather.ts";
import { Refusals } from "./reactions/refusals.ts";
import { Interests } from "./reactions/interests.ts";
import { ListRequests } from "./reactions/list-requests.ts";

/** The objects and clouds that controllers watch. */
export interface SourcesOptions {
  /** Of the management cluster; run by the caller. */
  readonly informers: Informers;
  readonly clouds: CloudPool;
  readonly clock: Clock;
  readonly log?: Log | undefined;
  /** Read the objects of this namespace only. */
  readonly namespace?: string | undefined;
  /** Read only clusters, machines and servers whose label cluster.x-k8s.io/watch-filter has this value. */
  readonly watchFilter?: string | undefined;
  /** PEM of authorities for clouds whose Secret has none. */
  readonly ca?: string | undefined;
  /** The namespaces that this process works on. Default: all. */
  readonly shards?: Pick<Shards, "since" | "owns" | "onChange"> | undefined;
  /** Secrets that count before those of the management cluster: of a plan for objects that do not exist yet. */
  readonly givenSecrets?: readonly Secret[] | undefined;
}

/** What the controllers read, in the management cluster and in the clouds. */
export interface Sources {
  readonly cluster: ClusterSources;
  readonly machine: MachineSources;
  readonly server: ServerSources;
  readonly pool: PoolSources;
  readonly template: TemplateSources;
  /** Resolves once every list of the management cluster has been read. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** Opens the informers and the sessions that gathers read. */
export function openSources(options: SourcesOptions): Sources {
  const { informers, clouds, clock, givenSecrets: given = [] } = options;
  const scope = options.namespace === undefined ? {} : { namespace: options.namespace };
  const filter = options.watchFilter;
  const own = filter === undefined ? scope : { ...scope, labelSelector: `${labels.watchFilter}=${filter}` };
  const clusters = informers.for(Cluster, scope);
  const machines = informers.for(Machine, scope);
  const openStackClusters = informers.for(OpenStackCluster, own);
  const openStackMachines = informers.for(OpenStackMachine, own);
  const openStackServers = informers.for(OpenStackServer, own);
  const pools = informers.for(OpenStackFloatingIPPool, own);
  const templates = informers.for(OpenStackMachineTemplate, scope);
  informers.index(templates, { cluster: clusterOfTemplate });
  const claims = informers.for(IPAddressClaim, scope);
  const addresses = informers.for(IPAddress, scope);
  informers.index(claims, { pool: poolOf });
  informers.index(addresses, { pool: poolOf });
  // An OpenStackClusterIdentity may lead to a Secret of any namespace.
  const secrets = informers.for(Secret);
  const clusterIdentities = informers.for(OpenStackClusterIdentity);
  const namespaces = informers.for(Namespace);
  informers.index(openStackMachines, {
    cluster: clusterOf,
    identity: identityOf,
    clusterIdentity: clusterIdentityOf,
    template: templateOf,
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
  const poolInterests = new Interests();
  const templateInterests = new Interests();
  const images = new ImageReferences(informers, (interest) => {
    machineInterests.notify([interest]);
    serverInterests.notify([interest]);
    templateInterests.notify([interest]);
  });
  const sessions = new Sessions({
    clouds,
    ca: options.ca,
    since: (namespace) => options.shards?.since(namespace),
    ...(options.shards ? { owns: (namespace: string) => options.shards?.owns(namespace) === true } : {}),
    objects: {
      secret: (key) => given.find(({ metadata }) => isAt(metadata, key)) ?? secrets.get(key),
      clusterIdentity: (name) => clusterIdentities.get({ namespace: "", name }),
      namespace: (name) => namespaces.get({ namespace: "", name }),
    },
    clock,
    log: options.log,
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
      machineInterests.listen(watch, ["servers", "ports", "volumes", "floatingIps"]);
      poolInterests.listen(watch, ["floatingIps"]);
      templateInterests.listen(watch, ["flavors", "images"]);
      serverInterests.listen(watch, ["servers", "ports", "volumes", "floatingIps"]);
    },
  });
  options.shards?.onChange(() => sessions.releaseOthers());
  const refusals = new Refusals(clock);
  const shared = {
    clusters,
    clusterIdentities,
    namespaces,
    machines,
    openStackClusters,
    openStackMachines,
    openStackServers,
    secrets,
    claims,
    addresses,
    sessions,
    refusals,
    clock,
  };
  const caches = [
    pools,
    templates,
    claims,
    addresses,
    openStackServers,
    clusters,
    machines,
    openStackClusters,
    openStackMachines,
    secrets,
    clusterIdentities,
    namespaces,
  ];
  return {
    cluster: {
      ...shared,
      machines: openStackMachines,
      owners: machines,
      interests: clusterInterests,
      listRequests: new ListRequests(),
    },
    server: { ...shared, interests: serverInterests, images, refreshedAt: new WeakMap() },
    machine: { ...shared, interests: machineInterests, images, refreshedAt: new WeakMap() },
    pool: { ...shared, pools, interests: poolInterests },
    template: { ...shared, templates, interests: templateInterests, images },
    async whenSynced(signal) {
      await Promise.all(caches.map((cache) => cache.whenSynced(signal)));
    },
  };
}

function clusterOf({ metadata }: OpenStackMachine): string[] {
  return within(metadata.namespace, metadata.labels?.[labels.clusterName]);
}

function isAt({ namespace = "", name }: KubeObject["metadata"], key: ObjectKey): boolean {
  return namespace === (key.namespace ?? "") && name === key.name;
}

function within(namespace: string | undefined, name: string | undefined): string[] {
  return name === undefined ? [] : [`${namespace ?? ""}/${name}`];
}
