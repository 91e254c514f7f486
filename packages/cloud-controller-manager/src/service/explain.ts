import type { Clock } from "@causeway/foundation";
import {
  Node,
  Service,
  type Informers,
  type ObjectKey,
  type PlannedEvent,
  type ServiceStatus,
  type Wait,
} from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import type { CloudControllerConfig } from "../config/config.ts";
import { Certificates } from "./certificates.ts";
import { gather } from "./gather.ts";
import { Holds } from "./holds.ts";
import { NodeBursts } from "./node-bursts.ts";
import { OctaviaReader } from "./octavia-facts.ts";
import { PendingTimes } from "./pending-times.ts";
import { planBoth } from "./plan-both.ts";
import { PoolDetails } from "./pool-details.ts";
import { callsOf, type PlannedCall } from "./step-calls.ts";
import type { Step } from "./steps.ts";
import { TreeFreshness } from "./tree-freshness.ts";

export interface ExplainOptions {
  /** Of the workload cluster; `run` by the caller. */
  readonly informers: Informers;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  readonly clusterName: string;
  readonly clock: Clock;
}

export interface ExplainedStep {
  readonly step: Step;
  readonly calls: readonly PlannedCall[];
}

/** What a reconcile of a Service would do now. */
export interface ServiceExplanation {
  /** In their order. Where there are any, the reconcile looks again after them and may find more to do. */
  readonly steps: readonly ExplainedStep[];
  /** What it would wait for. */
  readonly wait: Wait | undefined;
  readonly events: readonly PlannedEvent[];
  /** As it would be published. */
  readonly status: ServiceStatus;
}

/**
 * Reads what a reconcile reads, and plans, and does nothing of it. Undefined where there is no such Service, or none that
 * concerns load balancers here.
 */
export async function explainService(
  options: ExplainOptions,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ServiceExplanation | undefined> {
  const { informers, cloud, watch, config, clusterName, clock } = options;
  const services = informers.for(Service);
  const nodes = informers.for(Node);
  await Promise.all([services.whenSynced(signal), nodes.whenSynced(signal)]);
  const from = {
    services,
    nodes,
    cloud,
    watch,
    clusterName,
    config,
    details: new PoolDetails(cloud),
    freshness: new TreeFreshness(watch),
    holds: new Holds(clock),
    octavia: new OctaviaReader(cloud, clock),
    certificates: new Certificates(cloud, clock),
    bursts: new NodeBursts(clock),
    pending: new PendingTimes(clock),
  };
  const observed = await gather(from, key, signal);
  if (!observed) return undefined;
  const { steps, status, events = [], wait } = planBoth(observed, clock.now());
  return { steps: steps.map((step) => ({ step, calls: callsOf(step) })), wait, events, status };
}
