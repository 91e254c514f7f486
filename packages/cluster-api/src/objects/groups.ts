import type { ControllerOptions, ObjectKey } from "@causeway/kubernetes";
import { indexOfCluster } from "./context.ts";

/** Keys of one workload cluster that are worked on at once. */
const MOST = 4;

/**
 * The groups of a controller that calls workload clusters, each of which may not respond for a minute a call: its keys
 * occupy some of the workers only. `clusterOf` returns the Cluster of a key; undefined: it has none.
 */
export function groupsByCluster(
  clusterOf: (key: ObjectKey) => ObjectKey | undefined,
): NonNullable<ControllerOptions["groups"]> {
  return {
    of(key) {
      const cluster = clusterOf(key);
      return cluster && indexOfCluster(cluster);
    },
    most: MOST,
  };
}
