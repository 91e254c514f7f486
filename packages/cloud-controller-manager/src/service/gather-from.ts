import type { Clock, Metrics } from "@causeway/foundation";
import { Brake, Node, Service, type Informers } from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import { Backoffs, OctaviaReader, PoolDetails, TreeFreshness } from "@causeway/octavia-tree";
import type { CloudControllerConfig } from "../config/config.ts";
import { RateLimitedRefresh } from "../rate-limited-refresh.ts";
import { Certificates } from "./memory/certificates.ts";
import { EarlierCreates } from "./memory/earlier-creates.ts";
import type { GatherFrom } from "./observed.ts";
import { NodeBursts } from "./memory/node-bursts.ts";
import { ServingNodesMemory } from "./memory/serving-nodes.ts";
import { PendingTimes } from "./memory/pending-times.ts";

/** The cluster, the cloud and the settings that all Services of one manager share. */
export interface ServiceSurroundings {
  /** Of the workload cluster. */
  readonly informers: Informers;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  readonly clusterName: string;
  readonly clock: Clock;
  readonly metrics?: Metrics;
  /** Where the brake counts. Default `metrics`. */
  readonly brakes?: Metrics;
}

/** Where a reconcile of Services reads, with nothing remembered yet. */
export function gatherFrom(around: ServiceSurroundings): GatherFrom {
  const { informers, cloud, watch, config, clusterName, clock } = around;
  const metrics = around.brakes ?? around.metrics;
  return {
    services: informers.for(Service),
    nodes: informers.for(Node),
    cloud,
    watch,
    clusterName,
    config,
    details: new PoolDetails(cloud),
    freshness: new TreeFreshness(watch),
    backoffs: new Backoffs(clock),
    octavia: new OctaviaReader(cloud, clock),
    certificates: new Certificates(cloud, clock),
    bursts: new NodeBursts(clock),
    pending: new PendingTimes(clock),
    earlier: new EarlierCreates(clock),
    missed: new RateLimitedRefresh(clock),
    clock,
    serving: config.loadBalancer.followNodes ? new ServingNodesMemory(informers.client, clock) : undefined,
    brake: new Brake({ clock, name: "service", ...(metrics ? { metrics } : {}) }),
  };
}
