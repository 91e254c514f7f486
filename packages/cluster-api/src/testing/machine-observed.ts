import type { Node } from "@causeway/kubernetes";
import type { Observed } from "../machine/observed.ts";
import { cluster, machine, noDrain, referred } from "./objects.ts";

/** What the planner of Machines reads, for tables about it. */

export const connected = (...nodes: Node[]) => ({ reach: "connected", nodes, drain: noDrain }) as const;

/** A Machine "w-1" that has nothing yet. */
export const observed = (fields: Partial<Observed> = {}): Observed => ({
  machine: machine("w-1"),
  cluster: cluster(),
  machineSet: undefined,
  deployment: undefined,
  infrastructure: referred("OpenStackMachine", "w-1", {}),
  bootstrap: referred("KubeadmConfig", "w-1", {}),
  workload: connected(),
  ...fields,
});
