import type { Cluster } from "./cluster.ts";
import type { Change } from "./changes.ts";
import type { Resource } from "./resource.ts";

/** One of the server's own controllers for one cluster. */
export interface Controller {
  /** Hears of every committed write; only notes what to check. */
  saw(change: Change): void;
  /** Reads all that is stored: what happened while the server was down. */
  resume(): void;
  stop(): Promise<void>;
}

/** Starts a controller for a cluster. */
export type MakeController = (cluster: Cluster) => Controller;

/** A built-in resource, which is always there. */
export function builtIn(cluster: Cluster, group: string, plural: string): Resource {
  const found = cluster.catalog.find(group, "v1", plural);
  if (!found) throw new Error(`no built-in resource ${plural} in "${group}"`);
  return found.resource;
}
