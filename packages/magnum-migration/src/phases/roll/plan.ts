import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../run/phase.ts";

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

/** Ends the pause of a pool's MachineDeployment, which then replaces its machines. */
export type RollStep = Step & { readonly type: "roll"; readonly pool: string };

/** One pool after the other; each replaces its machines one by one, and stops at the first that fails. */
export function planRoll(pools: readonly RollPool[], { inventory }: MigrationRecord): PhasePlan<RollStep> {
  for (const pool of pools) {
    if (pool.isPaused && pool.adopted > 0)
      return {
        steps: [
          {
            type: "roll",
            pool: pool.name,
            what: `replace the ${pool.adopted} machines of node group ${pool.group}, one at a time`,
          },
        ],
        proof: [],
      };
    if (pool.adopted > 0 || pool.fresh < pool.replicas) {
      const why = pool.failure === undefined ? "" : `; it has stopped: ${pool.failure}`;
      return {
        steps: [],
        wait: `node group ${pool.group}: ${pool.fresh} of ${pool.replicas} new nodes are ready, ${pool.adopted} of Heat's are left${why}`,
        proof: [],
      };
    }
  }
  return {
    steps: [],
    proof: [
      ...pools.map((pool) => `node group ${pool.group}: ${pool.fresh} nodes of Cluster API, none of Heat's`),
      `every server of the workers of cluster ${inventory.name} was replaced after its Node was drained`,
    ],
  };
}
