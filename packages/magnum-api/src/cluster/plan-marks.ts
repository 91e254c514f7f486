import { annotations, type Machine } from "@causeway/api";
import type { Observed } from "./gather.ts";
import { ownMark } from "./names.ts";
import { poolsOf } from "./pools.ts";
import type { Step } from "./steps.ts";

const markOf = ({ metadata }: Machine): string | undefined => metadata.annotations?.[annotations.deleteMachine];

/** Machines that the user wants to go are marked before their group becomes smaller: then they are the ones that go. */
export function marksOf(observed: Observed): readonly Step[] {
  return poolsOf(observed).flatMap(({ group, machines }) =>
    machines
      .filter(({ metadata }) => (group.nodesToRemove ?? []).includes(metadata.name))
      .filter((machine) => markOf(machine) === undefined)
      .map((machine): Step => ({ type: "mark-machine", name: machine.metadata.name, machine })),
  );
}

/** A later request names other machines, or none: those of the earlier one remain, if they are still there. */
export function unmarksOf(observed: Observed): readonly Step[] {
  return poolsOf(observed).flatMap(({ group, machines }) =>
    machines
      .filter((machine) => markOf(machine) === ownMark && machine.metadata.deletionTimestamp === undefined)
      .filter(({ metadata }) => !(group.nodesToRemove ?? []).includes(metadata.name))
      .map((machine): Step => ({ type: "unmark-machine", name: machine.metadata.name, machine })),
  );
}
