import { finalizers, labels, type MachinePool } from "@causeway/api";
import { Node, type ObjectKey } from "@causeway/kubernetes";
import { memberKindOf, providerIDsOf } from "../contract/provider-object.ts";
import { indexNodes } from "../machine/gather.ts";
import { by, clusterKeyOf, lookUp, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import type { Observed, PoolNodes } from "./observed.ts";
import { poolLabel } from "./members.ts";

/** Reads caches only. */
export function gather(context: Context, key: ObjectKey): Observed | undefined {
  const pool = context.pools.get(key);
  if (!pool || isLeaving(pool, finalizers.machinePool)) return undefined;
  const { infrastructureRef, bootstrap } = pool.spec.template.spec;
  const infrastructure = lookUp(context, key.namespace, infrastructureRef);
  const now = context.clock.now();
  const machines = context.machines.byIndex(by.controller, pool.metadata.uid ?? "");
  const observed = {
    pool,
    cluster: context.clusters.get(clusterKeyOf(pool)),
    infrastructure,
    members: membersOf(context, pool, infrastructure),
    machines: machines.map((machine) => context.pendingDeletions.view(machine, now)),
    bootstrap: bootstrap.configRef && lookUp(context, key.namespace, bootstrap.configRef),
  };
  return { ...observed, workload: nodesOf(context, observed) };
}

/** The machines of the infrastructure, by the labels that its contract gives them. */
function membersOf(
  { kinds, informers }: Context,
  pool: MachinePool,
  { object, reference }: Observed["infrastructure"],
): Observed["members"] {
  const name = object && memberKindOf(object);
  const kind = name === undefined ? undefined : kinds.find({ apiGroup: reference.apiGroup, kind: name });
  if (!kind) return undefined;
  const hosts = informers
    .for(kind)
    .list(pool.metadata.namespace ?? "")
    .filter(
      ({ metadata }) =>
        metadata.labels?.[labels.clusterName] === pool.spec.clusterName &&
        metadata.labels[labels.poolName] === poolLabel(pool),
    );
  return { kind, hosts };
}

function nodesOf(context: Context, { pool, infrastructure }: Omit<Observed, "workload">): PoolNodes {
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
  return { reach: "connected", nodes: [...found.values()].map((node) => context.pendingDeletions.view(node, now)) };
}
