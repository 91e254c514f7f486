import { shortList } from "@causeway/foundation";
import { imageNotes, imageProblem, nodeImageText, type GroupImage } from "../../inventory/images.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../phase.ts";
import type { NodePlugin } from "../../workloads/node-plugin.ts";
import type { AdoptedMachine } from "./drain-hook.ts";

/** A node group and how many of its machines are replaced. `name` is that of its MachineDeployment. */
export interface RollPool {
  readonly name: string;
  readonly group: string;
  readonly isPaused: boolean;
  readonly replicas: number;
  /** Nodes that are ready and made by Cluster API. */
  readonly fresh: number;
  /** Machines that Heat made and that are left. */
  readonly adopted: readonly AdoptedMachine[];
  /** A new Machine that failed: no other one is replaced before it. */
  readonly failure: string | undefined;
}

/** kube-proxy of the nodes that `roll` makes: those of Heat's have it as a unit, new ones do not. */
export interface KubeProxyFacts {
  /** Whether the MagnumCluster has it as an add-on. */
  readonly isChosen: boolean;
  /** Why its AddonSet is not applied to the cluster; undefined: it is. */
  readonly unapplied: string | undefined;
  /** Why it does not work on new nodes that there are; undefined: it does, or there are none. */
  readonly unhealthy: string | undefined;
}

/** What is decided before the first machine is made, and not read again after it. */
export interface RollStart {
  readonly images: readonly GroupImage[];
  /** Whether the MagnumCluster has the image that was named for new nodes. */
  readonly hasImage: boolean;
  /** Whether it has the address from which their kubelets are reached. */
  readonly hasKubeletSource: boolean;
  /** The node part of the Cinder CSI driver. */
  readonly nodePlugin: NodePlugin;
  /** Objects that are not as the Magnum API would apply them, by their place among all of them. */
  readonly outdated: readonly { readonly index: number; readonly kind: string; readonly name: string }[];
}

/** What is read for `planRoll`. */
export interface RollFacts {
  readonly pools: readonly RollPool[];
  /** Why what is drained next would not work on new nodes. Read while a Machine waits for its drain. */
  readonly problems: readonly string[];
  readonly kubeProxy: KubeProxyFacts;
  /** Undefined: the first machine may have been made. */
  readonly start: RollStart | undefined;
}

/**
 * `roll` ends the pause of a pool's MachineDeployment, which then replaces its machines. `hold` has a Machine wait for
 * `release` before its Node is drained.
 */
export type RollStep = Step &
  (
    | { readonly type: "set-image" }
    | { readonly type: "set-kube-proxy" }
    | { readonly type: "set-kubelet-source" }
    | { readonly type: "restrict-node-plugin" }
    | { readonly type: "write"; readonly index: number }
    | { readonly type: "hold"; readonly machine: string }
    | { readonly type: "roll"; readonly pool: string }
    | { readonly type: "release"; readonly machine: string }
  );

/** One pool after the other; each replaces its machines one by one, and stops at the first that fails. */
export function planRoll(facts: RollFacts, record: MigrationRecord): PhasePlan<RollStep> {
  const { pools, kubeProxy } = facts;
  for (const pool of pools) {
    if (pool.isPaused && pool.adopted.length > 0) return planPool(pool, facts, record);
    if (pool.adopted.length > 0 || pool.fresh < pool.replicas) return planRolling(pool, facts);
  }
  // Also where no node group has a machine: those that are made later need it, too.
  const before = stepsBefore(facts, record);
  if (before.length > 0) return { steps: before, batch: before.length, proof: [] };
  if (kubeProxy.isChosen && kubeProxy.unhealthy !== undefined) return waitForKubeProxy(kubeProxy.unhealthy);
  return {
    steps: [],
    proof: [
      ...pools.map((pool) => `node group ${pool.group}: ${pool.fresh} nodes of Cluster API, none of Heat's`),
      ...(kubeProxy.isChosen ? ["kube-proxy runs on every new node, as an add-on of the cluster"] : []),
      `every server of the workers of cluster ${record.inventory.name} was replaced after its Node was drained`,
    ],
  };
}

/**
 * A pool that replaces its machines. Its MachineDeployment deletes a Machine as soon as a new Node is ready; the Node
 * of that Machine is drained once all new nodes work, and once no other one is being drained.
 */
function planRolling(
  { group, fresh, replicas, adopted, failure }: RollPool,
  { problems }: RollFacts,
): PhasePlan<RollStep> {
  const open = adopted.filter(({ isHeld, isDeleting }) => !isHeld && !isDeleting);
  if (open.length > 0) return { steps: open.map(hold), batch: open.length, proof: [] };
  const leaving = adopted.find(({ isHeld, isDeleting }) => !isHeld && isDeleting);
  const next = adopted.find(({ isHeld, isDeleting }) => isHeld && isDeleting);
  if (next && !leaving && problems.length === 0) return { steps: [release(next)], proof: [] };
  const why = failure === undefined ? "" : `; it has stopped: ${failure}`;
  const held = problems.length === 0 ? "" : `; no other node is drained before new ones work: ${listed(problems)}`;
  const now = leaving?.progress ? `; Machine ${leaving.name}: ${leaving.progress}` : "";
  const progress = `node group ${group}: ${fresh} of ${replicas} new nodes are ready, ${adopted.length} of Heat's are left`;
  return { steps: [], progress, wait: `${progress}${why}${held}${now}`, proof: [] };
}

const hold = ({ name }: AdoptedMachine): RollStep => ({
  type: "hold",
  machine: name,
  what: `have the drain of Machine ${name} wait for new nodes that work`,
});

const release = ({ name }: AdoptedMachine): RollStep => ({
  type: "release",
  machine: name,
  what: `drain the Node of Machine ${name}, and delete its server`,
});

const MOST_LISTED = 3;

function listed(problems: readonly string[]): string {
  return shortList(problems, MOST_LISTED, { separator: "; " });
}

const waitForKubeProxy = (why: string): PhasePlan<RollStep> => ({
  steps: [],
  wait: `kube-proxy to be healthy on new nodes, where ClusterIPs of Services do not work without it: ${why}`,
  proof: [],
});

const noNodePlugin: PhasePlan<RollStep> = {
  steps: [],
  refused: {
    code: "MIGRATE_NO_NODE_PLUGIN",
    message:
      "The cluster has volumes of Cinder, and new nodes would not have the node part of the CSI driver: that of Magnum's driver needs files that only Heat's nodes have",
    hint: "Start Causeway's controllers with --csi-image IMAGE (causeway up): they install theirs for new nodes.",
  },
  proof: [],
};

function volumeNotes({ isDrivers, hasOwn, hasClasses }: NodePlugin): string[] {
  if (!isDrivers || hasOwn || !hasClasses) return [];
  return [
    "the cluster has StorageClasses of Cinder and no volume: new nodes could not mount volumes, for they would not have the node part of the CSI driver; start Causeway's controllers with --csi-image IMAGE (causeway up)",
  ];
}

/** The next pool; before the first one, what its machines are made of has to be fit, and written. */
function planPool({ name, adopted, group }: RollPool, facts: RollFacts, record: MigrationRecord): PhasePlan<RollStep> {
  const { pools, kubeProxy, start } = facts;
  const roll: RollStep = {
    type: "roll",
    pool: name,
    what: `replace the ${adopted.length} machines of node group ${group}, one at a time`,
  };
  // Before the MachineDeployment can delete one of them.
  const begin = [...adopted.filter(({ isHeld }) => !isHeld).map(hold), roll];
  if (start === undefined) {
    const isWaiting = kubeProxy.isChosen && kubeProxy.unhealthy !== undefined;
    return isWaiting ? waitForKubeProxy(kubeProxy.unhealthy) : { steps: begin, batch: begin.length, proof: [] };
  }
  const pending = new Set(pools.filter((pool) => pool.adopted.length > 0).map((pool) => pool.group));
  const needed = start.images.filter(({ groups }) => groups.some((each) => pending.has(each)));
  const refused = needed.map((image) => imageProblem(image)).find((problem) => problem !== undefined);
  if (refused) return { steps: [], refused, proof: [] };
  if (start.nodePlugin.hasVolumes && !start.nodePlugin.hasOwn) return noNodePlugin;
  const before = stepsBefore(facts, record);
  const notes = [...imageNotes(start.images), ...volumeNotes(start.nodePlugin)];
  if (before.length === 0 && kubeProxy.unapplied !== undefined)
    return { ...waitForKubeProxy(kubeProxy.unapplied), notes };
  return { steps: [...before, ...begin], batch: before.length || begin.length, notes, proof: [] };
}

/** What is written before the first machine is made. */
function stepsBefore({ kubeProxy, start }: RollFacts, { nodeImage }: MigrationRecord): readonly RollStep[] {
  if (start === undefined) return [];
  return [
    ...(start.hasImage
      ? []
      : [{ type: "set-image", what: `have new nodes made of ${nodeImageText(nodeImage)}` } as const]),
    ...(kubeProxy.isChosen
      ? []
      : [{ type: "set-kube-proxy", what: "have kube-proxy on new nodes as an add-on of the cluster" } as const]),
    ...(start.hasKubeletSource
      ? []
      : [
          {
            type: "set-kubelet-source",
            what: "have new nodes accept the hosted API server at port 10250, for logs and exec",
          } as const,
        ]),
    ...(start.nodePlugin.isDrivers && !start.nodePlugin.isRestricted
      ? [
          {
            type: "restrict-node-plugin",
            what: "keep DaemonSet kube-system/csi-cinder-nodeplugin of Magnum's driver on Heat's nodes",
          } as const,
        ]
      : []),
    ...start.outdated.map((one): RollStep => ({
      type: "write",
      index: one.index,
      what: `write ${one.kind} ${one.name}`,
    })),
  ];
}
