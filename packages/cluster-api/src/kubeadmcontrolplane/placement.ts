import { annotations, type Cluster } from "@causeway/api";
import type { OwnedMachine } from "./observed.ts";
import { isHealthy } from "./health.ts";

/** Failure domains that take control planes. */
function domainsOf(cluster: Cluster): string[] {
  return (cluster.status?.failureDomains ?? [])
    .filter(({ controlPlane }) => controlPlane)
    .map(({ name }) => name)
    .toSorted();
}

function countIn(domain: string, machines: readonly OwnedMachine[]): number {
  return machines.filter(({ machine }) => machine.spec.failureDomain === domain && !machine.metadata.deletionTimestamp)
    .length;
}

/** Where the next machine goes: the domain with the fewest machines that remain, then with the fewest of all. */
export function domainForNew(
  cluster: Cluster,
  machines: readonly OwnedMachine[],
  outdated: ReadonlySet<string>,
): string | undefined {
  const current = machines.filter(({ machine }) => !outdated.has(machine.metadata.name));
  return domainsOf(cluster).toSorted(
    (a, b) => countIn(a, current) - countIn(b, current) || countIn(a, machines) - countIn(b, machines),
  )[0];
}

/**
 * The machine to delete next: marked for deletion and outdated, marked, unhealthy and outdated, outdated, any; among
 * those one in the domain with the most machines, the oldest first.
 */
export function machineToDelete(
  machines: readonly OwnedMachine[],
  outdated: ReadonlySet<string>,
): OwnedMachine | undefined {
  const isOutdated = ({ machine }: OwnedMachine) => outdated.has(machine.metadata.name);
  const isMarked = ({ machine }: OwnedMachine) =>
    machine.metadata.annotations?.[annotations.deleteMachine] !== undefined;
  const rules: ((owned: OwnedMachine) => boolean)[] = [
    (owned) => isMarked(owned) && isOutdated(owned),
    isMarked,
    (owned) => isOutdated(owned) && !isHealthy(owned),
    isOutdated,
    () => true,
  ];
  const group = rules.map((rule) => machines.filter(rule)).find((found) => found.length > 0) ?? [];
  const size = ({ machine }: OwnedMachine) => countIn(machine.spec.failureDomain ?? "", machines);
  return group.toSorted((a, b) => size(b) - size(a) || byAge(a, b))[0];
}

/** The oldest first; names decide where the times are the same. */
export function byAge(a: OwnedMachine, b: OwnedMachine): number {
  const born = ({ machine }: OwnedMachine) => `${machine.metadata.creationTimestamp ?? ""}/${machine.metadata.name}`;
  return born(a) < born(b) ? -1 : 1;
}
