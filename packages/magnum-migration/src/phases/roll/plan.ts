import { imageNotes, imageProblem, nodeImageText, type GroupImage } from "../../inventory/images.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../phase.ts";
import type { NodePlugin } from "../../workloads/node-plugin.ts";

/** A node group and how many of its machines are replaced. `name` is that of its MachineDeployment. */
export interface RollPool {
  readonly name: string;
  readonly group: string;
  readonly isPaused: boolean;
  readonly replicas: number;
  /** Nodes that are ready and made by Cluster API. */
  readonly fresh: number;
  /** Machines that Heat made and that are left. */
  readonly adopted: number;
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
  /** The node part of the Cinder CSI driver. */
  readonly nodePlugin: NodePlugin;
  /** Objects that are not as the Magnum API would apply them, by their place among all of them. */
  readonly outdated: readonly { readonly index: number; readonly kind: string; readonly name: string }[];
}

/** What is read for `planRoll`. */
export interface RollFacts {
  readonly pools: readonly RollPool[];
  readonly kubeProxy: KubeProxyFacts;
  /** Undefined: the first machine may have been made. */
  readonly start: RollStart | undefined;
}

/** `roll` ends the pause of a pool's MachineDeployment, which then replaces its machines. */
export type RollStep = Step &
  (
    | { readonly type: "set-image" }
    | { readonly type: "set-kube-proxy" }
    | { readonly type: "restrict-node-plugin" }
    | { readonly type: "write"; readonly index: number }
    | { readonly type: "roll"; readonly pool: string }
  );

/** One pool after the other; each replaces its machines one by one, and stops at the first that fails. */
export function planRoll(facts: RollFacts, record: MigrationRecord): PhasePlan<RollStep> {
  const { pools, kubeProxy } = facts;
  for (const pool of pools) {
    if (pool.isPaused && pool.adopted > 0) return planPool(pool, facts, record);
    if (pool.adopted > 0 || pool.fresh < pool.replicas) {
      const why = pool.failure === undefined ? "" : `; it has stopped: ${pool.failure}`;
      return {
        steps: [],
        wait: `node group ${pool.group}: ${pool.fresh} of ${pool.replicas} new nodes are ready, ${pool.adopted} of Heat's are left${why}${proxyText(pool, kubeProxy)}`,
        proof: [],
      };
    }
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

/** Nodes get Ready without it, and the pool continues: until then ClusterIPs of Services do not work on them. */
function proxyText({ fresh }: RollPool, { isChosen, unhealthy }: KubeProxyFacts): string {
  return fresh > 0 && isChosen && unhealthy !== undefined
    ? `; kube-proxy does not work on all of them: ${unhealthy}`
    : "";
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
    what: `replace the ${adopted} machines of node group ${group}, one at a time`,
  };
  if (start === undefined) {
    const isWaiting = kubeProxy.isChosen && kubeProxy.unhealthy !== undefined;
    return isWaiting ? waitForKubeProxy(kubeProxy.unhealthy) : { steps: [roll], proof: [] };
  }
  const pending = new Set(pools.filter((pool) => pool.adopted > 0).map((pool) => pool.group));
  const needed = start.images.filter(({ groups }) => groups.some((each) => pending.has(each)));
  const refused = needed.map((image) => imageProblem(image)).find((problem) => problem !== undefined);
  if (refused) return { steps: [], refused, proof: [] };
  if (start.nodePlugin.hasVolumes && !start.nodePlugin.hasOwn) return noNodePlugin;
  const before = stepsBefore(facts, record);
  const notes = [...imageNotes(start.images), ...volumeNotes(start.nodePlugin)];
  if (before.length === 0 && kubeProxy.unapplied !== undefined)
    return { ...waitForKubeProxy(kubeProxy.unapplied), notes };
  return { steps: [...before, roll], batch: Math.max(before.length, 1), notes, proof: [] };
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
