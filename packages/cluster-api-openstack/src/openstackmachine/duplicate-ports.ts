import type { ResolvedPort } from "@causeway/api";
import type { Port } from "@causeway/openstack";
import { chosen, type Found } from "../resources/ownership.ts";
import type { MachineContext } from "./model.ts";

/**
 * The ports of the project that have a port's name, network and description. There are two where the response to a
 * creation was lost, no list showed the port, it was created once more, and the cloud finished the first after all.
 */
export function candidatesOf({ cloud }: MachineContext, port: ResolvedPort): Port[] {
  return cloud.ports.filter(
    (p) =>
      p.name === port.name &&
      p.network_id === port.networkID &&
      p.description === port.description &&
      p.project_id === cloud.projectId,
  );
}

/**
 * Of several ports of one name, the one to use: that of a server or trunk, else one with a trunk, else the oldest. Only
 * where all of them are proven to be this machine's, and at most one is in use.
 */
export function chooseOwn(context: MachineContext, candidates: readonly Port[]): Found<Port> {
  const inUse = candidates.filter((port) => isInUse(context, port));
  const isClear = inUse.length <= 1 && candidates.every((port) => isProven(context, port));
  if (!isClear) return chosen(candidates);
  return chosen(byPreference(context, candidates).slice(0, 1));
}

/** The ports, the one to use first. */
export function byPreference(context: MachineContext, ports: readonly Port[]): Port[] {
  const ranked = ports.map((port) => ({ port, rank: rankOf(context, port) }));
  return ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ port }) => port);
}

/** Says that none of several ports of one name is used, and what to do. */
export function severalOf({ name }: Pick<ResolvedPort, "name">, ids: readonly string[]): string {
  return `Several ports are named ${name}: ${ids.join(", ")}. Delete all but one`;
}

/** The ports of this machine in whose place another one is in use: nothing needs them. */
export function surplusOf(context: MachineContext, port: ResolvedPort): Port[] {
  const candidates = candidatesOf(context, port);
  const own = chooseOwn(context, candidates);
  if (own.kind !== "one" || !isInUse(context, own.resource)) return [];
  return candidates.filter(({ id }) => id !== own.resource.id);
}

/**
 * A port has no mark of one object: two management clusters with machines of one name would give theirs equal names and
 * descriptions. The proof is the network: the cluster created it, and of two clusters with equal names only one gets
 * further than its network. The machine had made sure, before it got its finalizer, that no port had its name.
 */
function isProven({ object, finalizer, infrastructure }: MachineContext, port: Port): boolean {
  const { spec, status } = infrastructure ?? {};
  const isManaged = (spec?.managedSubnets?.length ?? 0) > 0;
  return (
    isManaged && status?.network?.id === port.network_id && object.metadata.finalizers?.includes(finalizer) === true
  );
}

/** A subport has no device, but a trunk. */
function isInUse({ cloud }: MachineContext, { id, device_id }: Port): boolean {
  return (
    device_id !== "" || cloud.ports.some((port) => port.trunk_details?.sub_ports.some((sub) => sub.port_id === id))
  );
}

/** By this the port to use is the smallest. */
function rankOf(context: MachineContext, port: Port): string {
  const use = isInUse(context, port) ? 0 : port.trunk_details ? 1 : 2;
  return `${use} ${port.created_at ?? ""} ${port.id}`;
}
