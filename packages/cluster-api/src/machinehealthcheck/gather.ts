import { labels } from "@causeway/api";
import { Node, type ObjectKey } from "@causeway/kubernetes";
import { by, clusterIndex, clusterKeyOf, type Context } from "../objects/context.ts";
import { matches } from "../objects/selector.ts";
import type { Observed } from "./observed.ts";

/** Reads caches only. */
export function gather(context: Context, key: ObjectKey): Observed | undefined {
  const { healthChecks, clusters, machines, remoteClusters, pendingDeletions, clock } = context;
  const check = healthChecks.get(key);
  if (!check || check.metadata.deletionTimestamp) return undefined;
  const remote = remoteClusters.get(clusterKeyOf(check));
  const nodes = remote?.informers.for(Node);
  const connected = nodes?.synced === true;
  const selected = machines
    .byIndex(by.cluster, clusterIndex(check))
    .filter(
      ({ metadata }) =>
        metadata.labels?.[labels.clusterName] === check.spec.clusterName &&
        matches(check.spec.selector, metadata.labels),
    );
  return {
    check,
    cluster: clusters.get(clusterKeyOf(check)),
    connected,
    targets: selected.map((machine) => {
      const name = machine.status?.nodeRef?.name;
      const node = connected && name !== undefined ? nodes.get({ namespace: "", name }) : undefined;
      return { machine: pendingDeletions.view(machine, clock.now()), node };
    }),
  };
}
