import { messageOf, type Cidr, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  Node,
  runController,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import { EventDeduplicator } from "../events/event-deduplicator.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type NodeWarning } from "./plan.ts";
import { Refusals } from "./refusals.ts";
import type { Step } from "./steps.ts";

/** What the controller of routes works with. `brakes` counts in place of `metrics` where it is given. */
export interface RouteControllerOptions {
  readonly informers: Informers;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  /** The Neutron router that carries the routes. */
  readonly routerId: string;
  readonly clusterCidrs: readonly Cidr[];
  readonly metrics?: Metrics;
  readonly brakes?: Metrics;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** Changes that come within this time (ms) are one: nodes that join together are routed together. */
const gathering = 1_000;

/** All routes of the cluster are one key to reconcile. */
const everything: ObjectKey = { namespace: "", name: "routes" };

/** Keeps routes to all nodes' pods on one router, and sets each Node's NetworkUnavailable condition. */
export function createRouteController(options: RouteControllerOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, cloud, watch, routerId, events, clock, log } = options;
  const nodes = informers.for(Node);
  const refusals = new Refusals(clock);
  const deduplicator = new EventDeduplicator(events, clock);
  const from = { ...options, nodes, refusals };
  const using = { client: informers.client, cloud, watch, routerId, refusals, clock };
  const syncs = options.metrics?.counter({
    name: "route_controller_route_sync_total",
    help: "Reconciliations of all routes",
  });
  const pipeline: Pipeline<Observed, Step, readonly NodeWarning[]> = {
    gather(_key, signal) {
      syncs?.increment();
      return gather(from, signal);
    },
    plan,
    perform: (step, _observed, signal) => perform(using, step, signal),
    async publish(observed, warnings) {
      if (!observed.router) log.warn("the router of [Route] router-id does not exist", { router: routerId });
      else if (!observed.routable)
        log.warn("routers of this cloud do not support routes (Neutron extension extraroute)");
      for (const { node, event } of warnings) deduplicator.emit(node, [event]);
    },
    failed(_observed, planned, step, error) {
      log.warn("routes could not be changed", { step: step.type, error: messageOf(error) });
      return { status: planned.status, events: [] };
    },
  };
  const sources: Source[] = [
    (enqueue) => nodes.onChange(({ object, previous }) => routing(object) !== routing(previous) && enqueue(everything)),
    (enqueue) => watch.routers.onChange(({ object }) => object.id === routerId && enqueue(everything)),
    (enqueue) => watch.ports.onChange(({ object }) => object.device_id !== "" && enqueue(everything)),
  ];
  return {
    run: (signal) =>
      runController(
        {
          name: "route",
          reconcile: runPipeline(pipeline, { clock, log, name: "route", metrics: options.brakes ?? options.metrics }),
          sources: sources.map((source) => gathered(source, clock)),
          ready: (stop) => nodes.whenSynced(stop),
          concurrency: 1,
          ...(options.metrics ? { measured: { metrics: options.metrics, name: "route" } } : {}),
          clock,
          log,
        },
        signal,
      ),
  };
}

/** Of a node, what its routes depend on; heartbeats change nothing of it. */
function routing(node: Node | undefined): string {
  if (!node) return "";
  const { metadata, spec, status } = node;
  return JSON.stringify([metadata.uid, metadata.deletionTimestamp, spec?.podCIDR, spec?.podCIDRs, status?.addresses]);
}

/** The first key of a burst waits for the rest of it. */
function gathered(source: Source, clock: Clock): Source {
  return (enqueue) => {
    let waiting: AbortController | undefined;
    const stop = source((key) => {
      if (waiting) return;
      const now = (waiting = new AbortController());
      clock.sleep(gathering, now.signal).then(
        () => {
          waiting = undefined;
          enqueue(key);
        },
        () => {},
      );
    });
    return () => {
      waiting?.abort();
      stop();
    };
  };
}
