/** Machines that go first when their group becomes smaller: those that the last request names, and no others. */
import { expect, it } from "vitest";
import { annotations } from "@causeway/api";
import { group, NOW, settled } from "../testing/observed.ts";
import type { Observed } from "./gather.ts";
import { ownMark } from "./names.ts";
import { plan } from "./plan.ts";

/** A group that is to become smaller, with machine A, which has this mark, and machine B without one. */
function smaller(nodesToRemove: readonly string[], mark: string, leaving: object = {}): Observed {
  const observed = settled({ spec: { nodeGroups: [{ ...group, nodeCount: 1, nodesToRemove }] } });
  const [machine] = observed.machines;
  const named = (name: string, more: object) => ({ ...machine, metadata: { ...machine?.metadata, name, ...more } });
  const machines = [named("A", { annotations: { [annotations.deleteMachine]: mark }, ...leaving }), named("B", {})];
  return {
    ...observed,
    standing: observed.standing.filter(({ kind }) => kind !== "MachineDeployment"),
    machines: machines as unknown as Observed["machines"],
  };
}

it.each<[string, Observed, readonly string[]]>([
  ["marks what the request names", smaller(["A", "B"], ownMark), ["mark-machine B", "apply"]],
  [
    "takes the mark of an earlier request off before the group becomes smaller",
    smaller(["B"], ownMark),
    ["unmark-machine A", "mark-machine B", "apply"],
  ],
  ["takes the mark off where no machine is named", smaller([], ownMark), ["unmark-machine A", "apply"]],
  ["keeps the mark of an autoscaler or an operator", smaller(["B"], "yes"), ["mark-machine B", "apply"]],
  [
    "leaves a machine that is going as it is",
    smaller(["B"], ownMark, { deletionTimestamp: "2026-11-01T11:00:00Z" }),
    ["mark-machine B", "apply"],
  ],
])("%s", (_, observed, expected) => {
  const { steps } = plan(observed, NOW);
  const words = steps.map((step) =>
    step.type === "apply" ? step.type : `${step.type} ${"name" in step ? step.name : ""}`,
  );
  expect(words).toEqual(expected);
});
