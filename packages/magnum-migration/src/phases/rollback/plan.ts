import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../phase.ts";
import { workloadText, type Workload } from "../../workloads/workloads.ts";
import type { PoolMember } from "../switch/plan.ts";
import type { BroughtProxy } from "./kube-proxy.ts";

/** An error of the cluster's API. It holds up only what needs that API: without it, the masters serve again. */
export interface UnreadCluster {
  readonly code: string;
  readonly message: string;
  /** It may pass by itself. */
  readonly isTransient: boolean;
}

/** What is read for `planRollback`. */
export interface RollbackFacts {
  /** Masters whose control plane does not run whole. */
  readonly stopped: readonly { readonly name: string; readonly address: string }[];
  readonly members: readonly PoolMember[];
  readonly isPoolBusy: boolean;
  readonly ownMember: string;
  /** Masters' etcd members that are left of those that there were. */
  readonly etcdLost: number;
  readonly hostedMember: string | undefined;
  readonly wantedStage: string | undefined;
  readonly isPaused: boolean;
  /** Objects that represent machines; they go without their servers. */
  readonly machineObjects: readonly string[];
  readonly otherObjects: readonly string[];
  /** Why something of the cluster's API could not be read; undefined: all was. */
  readonly unread: UnreadCluster | undefined;
  /** kube-proxy of `roll`. Undefined: it could not be read, or `roll` was not begun. */
  readonly kubeProxy: BroughtProxy | undefined;
  /** Security groups that the cluster's objects had made, and that no port uses. */
  readonly groups: readonly { readonly id: string; readonly name: string }[];
  /** Servers that `roll` made: no part of Heat's stacks. */
  readonly newServers: readonly string[];
  readonly agents: readonly { readonly name: string; readonly address: string }[];
  /** What phases stopped in the cluster. Undefined: it could not be read. */
  readonly stoppedWorkloads: readonly Workload[] | undefined;
}

/** A step of a rollback. */
export type RollbackStep = Step &
  (
    | { readonly type: "start-control-plane"; readonly address: string }
    | { readonly type: "add-pool-members" }
    | { readonly type: "remove-pool-member"; readonly id: string }
    | { readonly type: "pause" }
    | { readonly type: "forget-object"; readonly object: string }
    | { readonly type: "follow" }
    | { readonly type: "remove-member"; readonly id: string }
    | { readonly type: "delete-kube-proxy"; readonly object: string }
    | { readonly type: "release-node-plugin" }
    | { readonly type: "delete-group"; readonly id: string }
    | { readonly type: "start-agent"; readonly address: string }
    | { readonly type: "start-workload"; readonly workload: Workload }
  );

/**
 * The masters serve again before the hosted control plane stops; nothing that was written since is lost, for etcd is
 * the same.
 */
export function planRollback(facts: RollbackFacts, { inventory, begun }: MigrationRecord): PhasePlan<RollbackStep> {
  const only = (step: RollbackStep): PhasePlan<RollbackStep> => ({ steps: [step], proof: [] });
  const wait = (what: string): PhasePlan<RollbackStep> => ({ steps: [], wait: what, proof: [] });
  if (facts.etcdLost > 0) return lost(facts.etcdLost);
  const stopped = facts.stopped.map(({ name, address }): RollbackStep => ({
    type: "start-control-plane",
    address,
    what: `start the control plane on ${name} (${address})`,
  }));
  if (stopped.length > 0) return { steps: stopped, batch: stopped.length, proof: [] };
  const pool = planPool(facts, inventory.api?.members.length ?? 0);
  if (pool) return pool;
  if (facts.machineObjects.length > 0 && !facts.isPaused) return only({ type: "pause", what: "pause the Cluster" });
  if (facts.machineObjects.length > 0) return forget(facts.machineObjects, " without what it represents");
  if (facts.wantedStage === "Serve")
    return only({ type: "follow", what: "stop the hosted API server and controllers" });
  if (facts.hostedMember !== undefined)
    return only({ type: "remove-member", id: facts.hostedMember, what: "remove the hosted member from etcd" });
  if (facts.otherObjects.length > 0) return forget(facts.otherObjects, "");
  const proxy = planKubeProxy(facts, begun);
  if (proxy) return proxy;
  const groups = facts.groups.map(({ id, name }): RollbackStep => ({
    type: "delete-group",
    id,
    what: `delete security group ${name} (${id}), which no port uses`,
  }));
  if (groups.length > 0) return { steps: groups, batch: groups.length, proof: [] };
  const agents = facts.agents.map(({ name, address }): RollbackStep => ({
    type: "start-agent",
    address,
    what: `start heat-container-agent on ${name} (${address})`,
  }));
  if (agents.length > 0) return { steps: agents, batch: agents.length, proof: [] };
  if (facts.stoppedWorkloads === undefined) return unreadPlan(facts);
  const workloads = facts.stoppedWorkloads.map((workload): RollbackStep => ({
    type: "start-workload",
    workload,
    what: `start ${workloadText(workload)} as it was`,
  }));
  if (workloads.length > 0) return { steps: workloads, batch: workloads.length, proof: [] };
  return {
    steps: [],
    proof: [
      `${inventory.apiAddress} leads to the ${inventory.masters.length} masters`,
      "etcd has the masters' members alone, with all that was written",
      "no object of Cluster API is left of the cluster",
      ...facts.newServers.map(
        (server) => `server ${server} was made by roll: it is a node of the cluster, and no stack has it`,
      ),
      ...keptOf(facts),
      `allow changes of cluster ${inventory.uuid} in Magnum's policy file again`,
    ],
  };

  function planPool(
    { members, ownMember, isPoolBusy }: RollbackFacts,
    wanted: number,
  ): PhasePlan<RollbackStep> | undefined {
    if (isPoolBusy) return wait("the API's load balancer to be ACTIVE");
    const old = members.filter(({ name }) => name !== ownMember);
    if (old.length < wanted)
      return only({ type: "add-pool-members", what: `add ${wanted} masters to the API's load balancer` });
    const own = members.find(({ name }) => name === ownMember);
    if (!own) return undefined;
    const open = old.find(({ isReady }) => !isReady);
    if (open) return wait(`member ${open.address}:${open.port} of the API's load balancer to be ready`);
    return only({
      type: "remove-pool-member",
      id: own.id,
      what: `remove ${own.address}:${own.port} from the API's load balancer`,
    });
  }
}

/** What new nodes that remain need. */
function keptOf({ kubeProxy }: RollbackFacts): string[] {
  if (kubeProxy === undefined) return [];
  const nodes = kubeProxy.nodes.join(", ");
  const lines: string[] = [];
  if (kubeProxy.objects.length > 0) lines.push(`kept: ${kubeProxy.objects.join(", ")}, which nodes ${nodes} need`);
  if (kubeProxy.isRestricted)
    lines.push(
      `kept: the node affinity of DaemonSet kube-system/csi-cinder-nodeplugin, which does not run on nodes ${nodes}`,
    );
  return lines;
}

/** kube-proxy goes when no node has it: without it, nodes that `roll` made would reach no Service. */
function planKubeProxy(facts: RollbackFacts, begun: MigrationRecord["begun"]): PhasePlan<RollbackStep> | undefined {
  const { kubeProxy } = facts;
  if (kubeProxy === undefined) return begun === "roll" ? unreadPlan(facts) : undefined;
  const { objects, nodes, isRestricted } = kubeProxy;
  if (nodes.length > 0 || (objects.length === 0 && !isRestricted)) return undefined;
  const steps: RollbackStep[] = objects.map((object) => ({
    type: "delete-kube-proxy",
    object,
    what: `delete ${object}, which phase roll brought and no node has`,
  }));
  if (isRestricted)
    steps.push({
      type: "release-node-plugin",
      what: "let DaemonSet kube-system/csi-cinder-nodeplugin have the nodes that it had",
    });
  return { steps, batch: steps.length, proof: [] };
}

function unreadPlan({ unread }: RollbackFacts): PhasePlan<RollbackStep> {
  if (unread === undefined || unread.isTransient) {
    const why = unread === undefined ? "" : `: ${unread.message}`;
    return { steps: [], wait: `the cluster's API to respond${why}`, proof: [] };
  }
  return {
    steps: [],
    refused: {
      code: unread.code,
      message: `The masters serve, and the rollback cannot read the cluster: ${unread.message}`,
      hint: "Specify an administrator's kubeconfig with --source-kubeconfig, and run rollback again.",
    },
    proof: [],
  };
}

/** All in their order: the objects of machines come before those that they belong to. */
function forget(objects: readonly string[], how: string): PhasePlan<RollbackStep> {
  const steps = objects.map((object): RollbackStep => ({
    type: "forget-object",
    object,
    what: `delete ${object}${how}`,
  }));
  return { steps, batch: steps.length, proof: [] };
}

const lost = (count: number): PhasePlan<RollbackStep> => ({
  steps: [],
  refused: {
    code: "MIGRATE_MEMBERS_LOST",
    message: `${count} members of the masters' etcd are gone: the masters cannot serve what was written`,
    hint: "Repair the masters' etcd first, or complete the migration.",
  },
  proof: [],
});
