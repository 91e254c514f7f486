import type { Cluster } from "@causeway/api";
import type { Desired } from "./desired.ts";
import type { Observed } from "./observed.ts";
import type { MadeObject } from "./made-objects.ts";
import { idOf, type Difference } from "./model.ts";
import { withRotations } from "./rotation.ts";

/** How what there is differs from an object that is wanted; undefined where there is none. */
type DifferenceOf = (made: MadeObject) => Promise<Difference | undefined>;

/**
 * Compares all that a topology wants. Templates first: the objects that refer to one get another name where it must be
 * replaced.
 */
export async function compareTopology(
  cluster: Cluster,
  desired: Desired,
  differenceOf: DifferenceOf,
): Promise<Required<Pick<Observed, "desired" | "differences">>> {
  const differences = new Map<string, Difference>();
  const compareAll = async (objects: readonly (MadeObject | undefined)[]) => {
    for (const made of objects) {
      const id = made && idOf(made.kind, made.object);
      if (!made || id === undefined || differences.has(id)) continue;
      const difference = await differenceOf(made);
      if (difference) differences.set(id, difference);
    }
  };
  await compareAll(templatesOf(desired));
  const rotated = withRotations(cluster, desired, differences);
  await compareAll([
    ...templatesOf(rotated),
    rotated.infrastructure,
    rotated.controlPlane.object,
    rotated.controlPlane.healthCheck,
    ...rotated.workers.flatMap(({ deployment, healthCheck }) => [deployment, healthCheck]),
    ...rotated.pools.flatMap(({ bootstrap, infrastructure, pool }) => [bootstrap, infrastructure, pool]),
  ]);
  return { desired: rotated, differences };
}

function templatesOf({ controlPlane, workers }: Desired): (MadeObject | undefined)[] {
  return [
    controlPlane.machineTemplate,
    ...workers.flatMap(({ bootstrap, infrastructure }) => [bootstrap, infrastructure]),
  ];
}
