import { hasCode, silentLog, systemClock, type Clock, type Log } from "@causeway/foundation";
import { isBadRequest } from "../errors/predicates.ts";
import type { Cloud } from "../types/cloud.ts";
import type { Collection, Query } from "../types/collection.ts";
import { PollingInformer, type WatchedType } from "./informer.ts";
import type { CloudWatch } from "./interface.ts";
import type { WatchIntervals } from "./pace.ts";
import * as types from "./types.ts";

/** Which lists are polled, and how often. */
export interface WatchOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  readonly intervals?: WatchIntervals;
  /**
   * Types that are polled as rarely as those that hardly ever change, for a user that requests a list when an object is
   * missing.
   */
  readonly rarely?: readonly RareType[];
}

type RareType = "networks" | "subnets" | "ports" | "floatingIps" | "listeners" | "pools";

type Listed<T> = Pick<Collection<T, never>, "all">;

/**
 * The informers of the cloud's project. Networks and subnets, flavors and images are all that the project can see
 * (external and shared ones, too); of the other types only the project's own.
 */
export function watchCloud(cloud: Cloud, options: WatchOptions = {}): CloudWatch {
  const { clock = systemClock, log = silentLog, intervals = {}, rarely = [] } = options;
  const paced = <T>(name: RareType, type: WatchedType<T>): WatchedType<T> =>
    rarely.includes(name) ? { ...type, hardlyChanges: true } : type;
  const informers: PollingInformer<never>[] = [];

  const inform = <T extends { id: string }>(
    type: WatchedType<T>,
    list: (signal: AbortSignal) => Promise<T[]>,
    listChanged?: (since: string, signal: AbortSignal) => Promise<T[] | undefined>,
  ): PollingInformer<T> => {
    const lists = { list, ...(listChanged && { listChanged }) };
    const informer = new PollingInformer<T>({ type, ...lists, clock, log: log.with({ cloud: cloud.name }), intervals });
    informers.push(informer as unknown as PollingInformer<never>);
    return informer;
  };
  const visible = <T extends { id: string }>(type: WatchedType<T>, collection: Listed<T>) =>
    inform(type, listOf(collection));
  const own = <T extends { id: string }>(type: WatchedType<T>, collection: Listed<T>) =>
    inform(type, async (signal) => {
      const query: Query = { project_id: await cloud.projectId({ signal }) };
      return collection.all(query, { signal });
    });

  const { network, compute, loadBalancing } = cloud;
  const { volumes } = cloud.blockStorage;
  return {
    networks: visible(paced("networks", types.networks), network.networks),
    subnets: visible(paced("subnets", types.subnets), network.subnets),
    routers: own(types.routers, network.routers),
    ports: own(paced("ports", types.ports), network.ports),
    securityGroups: own(types.securityGroups, network.securityGroups),
    floatingIps: own(paced("floatingIps", types.floatingIps), network.floatingIps),
    servers: visible(types.servers, compute.servers),
    flavors: visible(types.flavors, compute.flavors),
    images: visible(types.images, cloud.image.images),
    serverGroups: visible(types.serverGroups, compute.serverGroups),
    volumes: inform(types.volumes, listOf(volumes), changesOf(volumes)),
    loadBalancers: own(types.loadBalancers, loadBalancing.loadBalancers),
    listeners: own(paced("listeners", types.listeners), loadBalancing.listeners),
    pools: own(paced("pools", types.pools), loadBalancing.pools),
    async close() {
      await Promise.all(informers.map((informer) => informer.close()));
    },
  };
}

const listOf =
  <T>(collection: Listed<T>) =>
  (signal: AbortSignal): Promise<T[]> =>
    collection.all({}, { signal });

/** Cinder's, from 3.60 (Train) on. */
const changesOf =
  <T>(collection: Listed<T>) =>
  async (since: string, signal: AbortSignal): Promise<T[] | undefined> => {
    try {
      return await collection.all({ updated_at: `gte:${since}` }, { signal, microversion: "3.60" });
    } catch (error) {
      if (isBadRequest(error) || hasCode(error, "OPENSTACK_MICROVERSION")) return undefined;
      throw error;
    }
  };
