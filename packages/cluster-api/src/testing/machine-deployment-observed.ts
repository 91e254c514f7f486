import type { Machine, MachineDeployment, MachineSet } from "@causeway/api";
import type { Observed } from "../machinedeployment/observed.ts";
import { cluster, servingMachine, template } from "./objects.ts";

/** What the planner of MachineDeployments reads, for tables about it. */

/** The template of machines with another version. */
export const newer = { ...template, spec: { ...template.spec, version: "v1.34.1" } };

/** As many Machines as each MachineSet wants, which serve or do not. */
export const machinesOf = (sets: readonly MachineSet[], serving = true): Map<string, Machine[]> =>
  new Map(
    sets.map((set): [string, Machine[]] => [
      set.metadata.uid ?? "",
      Array.from({ length: set.spec.replicas ?? 1 }, (_, i) =>
        servingMachine(`${set.metadata.name}-${i}`, serving ? {} : { status: {} }),
      ),
    ]),
  );

/** A MachineDeployment with these MachineSets, whose Machines serve. */
export const observed = (
  of: MachineDeployment,
  sets: readonly MachineSet[] = [],
  more: Partial<Observed> = {},
): Observed => ({ deployment: of, cluster: cluster(), sets, orphans: [], machinesOf: machinesOf(sets), ...more });
