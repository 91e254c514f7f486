import type { ObjectKey, WantedCondition } from "@causeway/kubernetes";
import { fingerprint } from "./names.ts";

/** Reasons of TopologyReconciled, a contract of Cluster API, that do not make a Cluster unavailable. */
export const CLUSTER_UPGRADING = "ClusterUpgrading";
/** Annotations of workers hold their upgrade back. */
export const WORKERS_DEFERRED = "MachineDeploymentsUpgradeDeferred";
/** A hook holds the creation back. */
export const CLUSTER_CREATING = "ClusterCreating";

/** What the controller of topologies found of one Cluster; the Cluster's own controller publishes it. */
export interface TopologyReport {
  readonly condition: WantedCondition;
  /** The versions that are still to come, in order. */
  readonly controlPlaneUpgrades?: readonly string[];
  readonly workersUpgrades?: readonly string[];
}

/** The latest report of each Cluster. A status has one writer: two would overwrite each other's conditions. */
export class TopologyReports {
  readonly #reports = new Map<string, TopologyReport>();
  readonly #listeners = new Set<(key: ObjectKey) => void>();

  of(key: ObjectKey): TopologyReport | undefined {
    return this.#reports.get(`${key.namespace}/${key.name}`);
  }

  set(key: ObjectKey, report: TopologyReport | undefined): void {
    const name = `${key.namespace}/${key.name}`;
    if (fingerprint(this.#reports.get(name) ?? null) === fingerprint(report ?? null)) return;
    if (report) this.#reports.set(name, report);
    else this.#reports.delete(name);
    for (const listener of this.#listeners) listener(key);
  }

  onChange(listener: (key: ObjectKey) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
