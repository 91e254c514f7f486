import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  isConflict,
  keyOf,
  Node,
  runController,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Port } from "@causeway/openstack";
import type { CloudControllerConfig } from "../config/config.ts";
import { EventDeduplicator } from "../events/event-deduplicator.ts";
import type { NodesLeft } from "../service/memory/nodes-left.ts";
import { isExcluded } from "../service/parameters/desired.ts";
import { taintRemovals } from "../service/memory/reconciles.ts";
import { RateLimitedRefresh } from "../rate-limited-refresh.ts";
import { denialPause, Denials } from "./denials.ts";
import { gather, type Duties, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import { parseProviderId } from "./provider-id.ts";
import { NotReadyTracker } from "./not-ready-tracker.ts";
import type { Step } from "./steps.ts";
import { uninitializedTaint } from "./taints.ts";

/** What the controller of Nodes works with. `brakes` counts in place of `metrics` where it is given. */
export interface NodeControllerOptions {
  readonly informers: Informers;
  readonly cloud: Pick<Cloud, "region" | "compute">;
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  readonly duties: Duties;
  /** Which excluded Nodes are members of no load balancer; without it no Node says so. */
  readonly nodesLeft?: NodesLeft | undefined;
  readonly metrics?: Metrics;
  readonly brakes?: Metrics;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Initialises nodes, keeps their addresses and labels, taints those of stopped servers and deletes those of gone ones.
 */
export function createNodeController(options: NodeControllerOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, cloud, watch, config, duties, events, clock, log } = options;
  const nodes = informers.for(Node);
  informers.index(nodes, {
    server: (node) => [parseProviderId(node.spec?.providerID)?.serverId ?? `name:${node.metadata.name}`],
  });
  const refreshes = {
    denials: new Denials({ cloud, watch, clock }),
    missed: new RateLimitedRefresh(clock, 5_000),
    doubts: new RateLimitedRefresh(clock, denialPause),
  };
  const { nodesLeft } = options;
  const from = {
    nodes,
    cloud,
    watch,
    config,
    duties,
    nodesLeft,
    notReadyTracker: new NotReadyTracker(clock),
    ...refreshes,
  };
  const freed = taintRemovals(options.metrics, clock);
  const deduplicator = new EventDeduplicator(events, clock);
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key, signal) => gather(from, key, signal),
    plan,
    async perform(step, { node }, signal) {
      await perform(informers.client, step, { node, signal, events });
      const ends = step.type === "set-node" && step.taints?.every((taint) => taint.key !== uninitializedTaint) === true;
      if (ends && node.spec?.taints?.some((taint) => taint.key === uninitializedTaint)) freed(node);
    },
    async publish(observed, _status, planned) {
      deduplicator.emit(observed.node, planned);
    },
    failed: (_observed, _plan, step, error) => ({
      status: undefined,
      // Another writer was faster: the next reconcile settles it.
      events: isConflict(error)
        ? []
        : [{ type: "Warning", reason: "NodeSyncFailed", message: `${step.type}: ${messageOf(error)}` }],
    }),
  };
  const keysOf = (serverId: string, name: string | undefined): ObjectKey[] =>
    [...nodes.byIndex("server", serverId), ...(name === undefined ? [] : nodes.byIndex("server", `name:${name}`))].map(
      (node) => ({ namespace: "", name: node.metadata.name }),
    );
  const serverChanges: Source = (enqueue) =>
    watch.servers.onChange(({ object, previous }) => {
      keysOf(object.id, object.name).forEach(enqueue);
      // A server that had a node's name no longer blocks it.
      if (previous && previous.name !== object.name) keysOf(previous.id, previous.name).forEach(enqueue);
    });
  const departures: Source = (enqueue) =>
    nodesLeft?.onChange(() => {
      for (const node of nodes.list().filter(isExcluded)) enqueue(keyOf(node));
    }) ?? (() => {});
  const portChanges: Source = (enqueue) =>
    watch.ports.onChange(({ object }: { object: Port }) => {
      const id = object.device_id;
      if (id !== "") keysOf(id, watch.servers.get(id)?.name).forEach(enqueue);
    });
  return {
    run: (signal) =>
      runController(
        {
          name: "cloud-node",
          reconcile: runPipeline(pipeline, {
            clock,
            log,
            name: "cloud-node",
            metrics: options.brakes ?? options.metrics,
          }),
          sources: [watchInformer(nodes), serverChanges, portChanges, departures],
          ready: (stop) => nodes.whenSynced(stop),
          ...(options.metrics ? { measured: { metrics: options.metrics, name: "Nodes" } } : {}),
          clock,
          log,
        },
        signal,
      ),
  };
}
