import { finalizers } from "@causeway/api";
import { Node, type ObjectKey } from "@causeway/kubernetes";
import { providerIDsOf } from "../contract/provider-object.ts";
import { indexNodes } from "../machine/gather.ts";
import { clusterKeyOf, lookUp, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import type { MachinePoolFacts, PoolNodes } from "./facts.ts";

/** Reads caches only. */
export function gatherMachinePool(context: Context, key: ObjectKey): MachinePoolFacts | undefined {
  const pool = context.pools.get(key);
  if (!pool || isLeaving(pool, finalizers.machinePool)) return undefined;
  const { infrastructureRef, bootstrap } = pool.spec.template.spec;
  const facts = {
    pool,
    cluster: context.clusters.get(clusterKeyOf(pool)),
    infrastructure: lookUp(context, key.namespace, infrastructureRef),
    bootstrap: bootstrap.configRef && lookUp(context, key.namespace, bootstrap.configRef),
  };
  return { ...facts, workload: nodesOf(context, facts) };
}

function nodesOf(context: Context, { pool, infrastructure }: Omit<MachinePoolFacts, "workload">): PoolNodes {
  const remote = context.remoteClusters.get(clusterKeyOf(pool));
  const nodes = remote?.informers.for(Node);
  if (!remote || !nodes?.synced) return { reach: "unreachable" };
  indexNodes(remote);
  const ids = (infrastructure.object && providerIDsOf(infrastructure.object)) ?? pool.spec.providerIDList ?? [];
  const found = new Map<string, Node>();
  for (const node of ids.flatMap((id) => nodes.byIndex("providerID", id))) found.set(node.metadata.name, node);
  for (const { name, uid } of pool.status?.nodeRefs ?? []) {
    const node = name === undefined ? undefined : nodes.get({ namespace: "", name });
    // A Node of the same name that is another one belongs to another machine.
    if (node && node.metadata.uid === uid) found.set(node.metadata.name, node);
  }
  const now = context.clock.now();
  return { reach: "connected", nodes: [...found.values()].map((node) => context.asked.view(node, now)) };
}
