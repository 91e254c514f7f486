import type { Clock, Metrics } from "@causeway/foundation";
import type { Node, ObjectKey, Reconcile, Service } from "@causeway/kubernetes";
import { wantsLoadBalancer } from "../parameters/concern.ts";

/** cloud-provider-openstack's, seconds. */
const buckets = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 7.5, 10, 15, 25, 50, 100, 250, 500, 1_000];

/** The values of label `operation` of upstream's metrics. */
export type Operation = "loadbalancer_ensure" | "loadbalancer_update" | "loadbalancer_delete";

interface MeasureOptions {
  readonly metrics: Metrics | undefined;
  readonly clock: Clock;
  /** Undefined: this reconcile is no work of a load balancer's. */
  readonly operationOf: (key: ObjectKey) => Operation | undefined;
}

/**
 * cloudprovider_openstack_reconcile_duration_seconds and its fellows, and cloud-provider's count of synced load
 * balancers.
 */
export function measured(reconcile: Reconcile, { metrics, clock, operationOf }: MeasureOptions): Reconcile {
  if (metrics === undefined) return reconcile;
  const labels = ["operation"];
  const name = "cloudprovider_openstack_reconcile";
  const seconds = metrics.histogram({ name: `${name}_duration_seconds`, help: "Time of a reconcile", labels, buckets });
  const total = metrics.counter({ name: `${name}_total`, help: "Reconciles", labels });
  const errors = metrics.counter({ name: `${name}_errors_total`, help: "Reconciles that failed", labels });
  const syncs = metrics.counter({
    name: "service_controller_loadbalancer_sync_total",
    help: "Load balancers that were synced",
  });
  const hosts = metrics.histogram({
    name: "service_controller_update_loadbalancer_host_latency_seconds",
    help: "Time of updating one load balancer's hosts",
    buckets: Array.from({ length: 15 }, (_, power) => 2 ** power),
  });
  const unsynced = metrics.counter({
    name: "service_controller_nodesync_error_total",
    help: "Load balancers whose hosts could not be updated",
  });
  return async (key, signal) => {
    const operation = operationOf(key);
    if (operation === undefined) return reconcile(key, signal);
    const begun = clock.now();
    total.increment({ operation });
    syncs.increment();
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (!signal.aborted) {
        errors.increment({ operation });
        if (operation === "loadbalancer_update") unsynced.increment();
      }
      throw error;
    } finally {
      const took = (clock.now() - begun) / 1_000;
      seconds.observe(took, { operation });
      if (operation === "loadbalancer_update") hosts.observe(took);
    }
  };
}

/**
 * What is done for a Service: one that has its address and asks for nothing new is updated, as after changes of nodes.
 */
export class Operations {
  readonly #asked = new Map<string, string>();

  of(service: Service): Operation {
    const { metadata, spec, status } = service;
    const uid = metadata.uid ?? "";
    if (metadata.deletionTimestamp !== undefined || !wantsLoadBalancer(service)) {
      this.#asked.delete(uid);
      return "loadbalancer_delete";
    }
    const asks = JSON.stringify([spec, metadata.annotations]);
    const before = this.#asked.get(uid);
    this.#asked.set(uid, asks);
    const served = (status?.loadBalancer?.ingress ?? []).length > 0;
    return served && before === asks ? "loadbalancer_update" : "loadbalancer_ensure";
  }
}

/** Records in a metric how long nodes wait until they may be used. */
export function taintRemovals(metrics: Metrics | undefined, clock: Clock): (node: Node) => void {
  const delay = metrics?.histogram({
    name: "node_controller_cloud_provider_taint_removal_delay_seconds",
    help: "Time from a node's creation to the end of its taint",
    buckets: [1, 4, 16, 64, 256, 1_024],
  });
  // The taint goes with the last that a first synchronization brings.
  const first = metrics?.histogram({
    name: "node_controller_initial_node_sync_delay_seconds",
    help: "Time from a node's creation to the end of its first synchronization",
    buckets: [1, 4, 16, 64, 256, 1_024],
  });
  return ({ metadata }) => {
    const made = Date.parse(metadata.creationTimestamp ?? "");
    if (Number.isNaN(made)) return;
    const seconds = Math.max(0, clock.now() - made) / 1_000;
    delay?.observe(seconds);
    first?.observe(seconds);
  };
}
