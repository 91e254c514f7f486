import { finalizers, type Machine } from "@causeway/api";
import { controllerOf, isControlledBy, type ObjectKey } from "@causeway/kubernetes";
import { by, clusterIndex, clusterKeyOf, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import { matches } from "../objects/selector.ts";
import type { Observed } from "./observed.ts";

/** Reads caches only. */
export function gather(context: Context, key: ObjectKey): Observed | undefined {
  const { deployments, sets, machines, clusters, pendingDeletions, clock } = context;
  const deployment = deployments.get(key);
  if (!deployment || isLeaving(deployment, finalizers.machineDeployment)) return undefined;
  const now = clock.now();
  const siblings = sets.byIndex(by.cluster, clusterIndex(deployment));
  const own = siblings.filter((set) => isControlledBy(set, deployment)).map((set) => pendingDeletions.view(set, now));
  const orphans = siblings.filter(
    (set) =>
      !controllerOf(set) && !set.metadata.deletionTimestamp && matches(deployment.spec.selector, set.metadata.labels),
  );
  const machinesOf = new Map<string, Machine[]>();
  for (const { metadata } of own) {
    const uid = metadata.uid ?? "";
    machinesOf.set(
      uid,
      machines.byIndex(by.controller, uid).map((machine) => pendingDeletions.view(machine, now)),
    );
  }
  return { deployment, cluster: clusters.get(clusterKeyOf(deployment)), sets: own, orphans, machinesOf };
}
