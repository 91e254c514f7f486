import { messageOf, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  isConflict,
  keyOf,
  publishStatus,
  runController,
  Service,
  watchInformer,
  type EventRecorder,
  type ObjectKey,
  type PlannedEvent,
  type Pipeline,
  type ServiceStatus,
  type Source,
} from "@causeway/kubernetes";
import type { CloudWatch } from "@causeway/openstack";
import { errorKey, isOfMembers } from "@causeway/octavia-tree";
import { EventDeduplicator } from "../events/event-deduplicator.ts";
import { NodeSyncs } from "../metrics/node-syncs.ts";
import { measured, Operations } from "./memory/reconciles.ts";
import { aimOf, isIndependent, isRefusal, wishesOf } from "./brake.ts";
import { concerns } from "./parameters/concern.ts";
import { isExcluded } from "./parameters/desired.ts";
import { gather } from "./gather.ts";
import type { Observed, ServiceObserved } from "./observed.ts";
import { gatherFrom, type ServiceSurroundings } from "./gather-from.ts";
import { annotation } from "../config/annotations.ts";
import { floatingIpDescription, loadBalancerName, retiringName } from "./parameters/names.ts";
import { nodesLeft } from "./members-left.ts";
import type { NodesLeft } from "./memory/nodes-left.ts";
import { nodeChanges } from "./memory/node-changes.ts";
import { fieldManager, perform } from "./perform.ts";
import { planBoth } from "./plan-both.ts";
import { Leftovers } from "./security-group/leftovers.ts";
import { groupsFirst, securityGroupSources } from "./security-group/controller.ts";
import { otherFamily, secondName } from "./parameters/second-family.ts";
import type { Step } from "./steps.ts";

/** What the controller of Services works with. */
export interface ServiceControllerOptions extends ServiceSurroundings {
  /** Number of Services that are reconciled at once. */
  readonly serviceSyncs?: number;
  readonly metrics?: Metrics;
  /** Where it is reported which excluded Nodes are no members any more. */
  readonly nodesLeft?: NodesLeft | undefined;
  readonly events: EventRecorder;
  readonly log: Log;
}

/** Brings every Service of type LoadBalancer to its load balancer, and keeps it there. */
export function createServiceController(options: ServiceControllerOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { informers, cloud, watch, config, clusterName, events, clock, log } = options;
  const from = gatherFrom(options);
  const { services, nodes, details, freshness, backoffs, bursts, octavia, missed, brake } = from;
  const deduplicator = new EventDeduplicator(events, clock);
  const using = { client: informers.client, cloud, watch, events, details, freshness, backoffs };
  const operations = new Operations();
  const syncs = new NodeSyncs(options.metrics, clock);
  const leftovers = new Leftovers(cloud, watch);
  const groups = { ...options, services, nodes, leftovers, octavia, missed, deduplicator };
  const pipeline: Pipeline<Observed, Step, ServiceStatus> = {
    async gather(key, signal) {
      // Seen before the load balancer is: what is excluded later counts only the next time.
      const excluded = options.nodesLeft ? nodes.list().filter(isExcluded) : [];
      const observed = await gather(from, key, signal);
      const name = `${key.namespace}/${key.name}`;
      if (observed) options.nodesLeft?.report(name, excluded, nodesLeft(observed, excluded));
      else options.nodesLeft?.forget(name);
      return observed;
    },
    plan: planBoth,
    perform: (step, observed, signal) => perform(using, step, observed, signal),
    async publish(observed, status, planned, signal) {
      const { service } = observed;
      deduplicator.emit(
        service,
        planned.filter(({ type }) => type === "Warning"),
      );
      if ((status.loadBalancer?.ingress ?? []).length > 0) backoffs.reset(errorKey(observed.lbName));
      if (services.get(keyOf(service)) !== undefined)
        await publishStatus(informers.client, Service, service, { status, fieldManager, signal });
      // "Ensured" is true only when the status is written.
      deduplicator.emit(
        service,
        planned.filter(({ type }) => type === "Normal"),
      );
    },
    failed: (observed, planned, step, error) => ({
      status: planned.status,
      events: isConflict(error) ? [] : [failure(observed, step, error)],
    }),
    aimOf,
    isRefusal,
    isIndependent,
    epochOf: ({ service }) => wishesOf(service),
  };
  options.nodesLeft?.ofServices(() =>
    services.synced ? keysBy(() => true).map(({ namespace, name }) => `${namespace}/${name}`) : undefined,
  );
  const keysBy = (test: (service: Service) => boolean): ObjectKey[] =>
    services
      .list()
      .filter((s) => concerns(s, config) && test(s))
      .map(keyOf);
  const sources: Source[] = [
    watchInformer(services),
    nodeChanges({
      nodes,
      clock,
      keys: () => keysBy(() => true),
      changed() {
        bursts.changed();
        syncs.changed(keysBy(() => true));
      },
    }),
    ...cloudChanges(watch, { clusterName, keysBy }),
    ...securityGroupSources(groups, keysBy),
    () => nodes.onChange(({ type, object }) => (type === "deleted" ? from.serving?.forget(object) : undefined)),
    () => watch.pools.onChange(({ type, object }) => (type === "deleted" ? details.forget(object.id) : undefined)),
  ];
  const reconcile = measured(groupsFirst(groups, runPipeline(pipeline, { clock, log, brake })), {
    metrics: options.metrics,
    clock,
    operationOf(key) {
      const service = services.get(key);
      return service && concerns(service, config) ? operations.of(service) : undefined;
    },
  });
  return {
    run: (signal) =>
      runController(
        {
          name: "service",
          reconcile: syncs.measured(reconcile),
          sources,
          ...(options.serviceSyncs === undefined ? {} : { concurrency: options.serviceSyncs }),
          ready: async (stop) => {
            await Promise.all([services.whenSynced(stop), nodes.whenSynced(stop)]);
          },
          ...(options.metrics ? { measured: { metrics: options.metrics, name: "service" } } : {}),
          clock,
          log,
        },
        signal,
      ),
  };
}

/** Nodes of a Service that is served are another event than the Service's own wishes. */
function failure({ service, nodes }: ServiceObserved, step: Step, error: unknown): PlannedEvent {
  if (isOfMembers(step) && (service.status?.loadBalancer?.ingress ?? []).length > 0) {
    const names = nodes.slice(0, 10).map(({ metadata }) => metadata.name);
    const message = `Error updating load balancer with new hosts [${names.join(" ")}] [node names limited, total number of nodes: ${nodes.length}], error: ${messageOf(error)}`;
    return { type: "Warning", reason: "UpdateLoadBalancerFailed", message };
  }
  const message = `Error syncing load balancer: ${step.type}: ${messageOf(error)}`;
  return { type: "Warning", reason: "SyncLoadBalancerFailed", message };
}

interface WakeTargets {
  readonly clusterName: string;
  readonly keysBy: (test: (service: Service) => boolean) => ObjectKey[];
}

/** A change in the cloud wakes the Services whose load balancer it is. */
function cloudChanges(watch: CloudWatch, { clusterName, keysBy }: WakeTargets): Source[] {
  const ofBalancer = (id: string, name?: string) =>
    keysBy(
      (s) =>
        s.metadata.annotations?.[annotation.loadBalancerId] === id || (name !== undefined && namesOf(s).includes(name)),
    );
  const namesOf = (service: Service) => {
    const name = loadBalancerName(clusterName, service);
    return [name, secondName(name, otherFamily(service)), retiringName(name)];
  };
  const named = (ids: readonly { id: string }[]) =>
    ids.flatMap(({ id }) => ofBalancer(id, watch.loadBalancers.get(id)?.name));
  return [
    (enqueue) => watch.loadBalancers.onChange(({ object }) => ofBalancer(object.id, object.name).forEach(enqueue)),
    (enqueue) => watch.listeners.onChange(({ object }) => named(object.loadbalancers).forEach(enqueue)),
    (enqueue) => watch.pools.onChange(({ object }) => named(object.loadbalancers).forEach(enqueue)),
    (enqueue) =>
      watch.floatingIps.onChange(({ object, previous }) => {
        for (const port of [object.port_id, previous?.port_id ?? null])
          for (const lb of port === null ? [] : watch.loadBalancers.byIndex("port", port))
            ofBalancer(lb.id, lb.name).forEach(enqueue);
        const { floating_ip_address: address, description } = object;
        const named = (s: Service): boolean =>
          s.spec.loadBalancerIP === address || floatingIpDescription(clusterName, s) === description;
        keysBy(named).forEach(enqueue);
      }),
  ];
}
