import type { Clock, HistogramMetric, Metrics } from "@causeway/foundation";
import type { ObjectKey, Reconcile } from "@causeway/kubernetes";

/**
 * service_controller_nodesync_latency_seconds, for each Service: upstream measures all of them as one, which a stuck
 * one would hold up.
 */
export class NodeSyncs {
  readonly #clock: Clock;
  readonly #latency: HistogramMetric | undefined;
  /**
   * Since when (ms since the epoch), and since which change, a Service's load balancer does not have all nodes; by the
   * Service's key.
   */
  readonly #since = new Map<string, { readonly at: number; readonly change: number }>();
  #changes = 0;

  constructor(metrics: Metrics | undefined, clock: Clock) {
    this.#clock = clock;
    this.#latency = metrics?.histogram({
      name: "service_controller_nodesync_latency_seconds",
      help: "Time from a change of the nodes until a load balancer has them",
      buckets: Array.from({ length: 15 }, (_, power) => 2 ** power),
    });
  }

  /** Nodes changed, and these Services have them. */
  changed(keys: readonly ObjectKey[]): void {
    if (this.#latency === undefined) return;
    const since = { at: this.#clock.now(), change: ++this.#changes };
    for (const key of keys.map(textOf)) this.#since.set(key, this.#since.get(key) ?? since);
  }

  /** What waits for something does not have its nodes yet. */
  measured(reconcile: Reconcile): Reconcile {
    if (this.#latency === undefined) return reconcile;
    return async (key, signal) => {
      const begun = this.#changes;
      const result = await reconcile(key, signal);
      if (result?.after === undefined) this.#settle(textOf(key), begun);
      return result;
    };
  }

  /** A reconcile that began before the change may not have seen it; another one follows. */
  #settle(key: string, begun: number): void {
    const since = this.#since.get(key);
    if (since === undefined || since.change > begun) return;
    this.#since.delete(key);
    this.#latency?.observe((this.#clock.now() - since.at) / 1_000);
  }
}

function textOf({ namespace, name }: ObjectKey): string {
  return `${namespace}/${name}`;
}
