import type { ResolvedPort } from "@causeway/api";
import type { Port, SubPort } from "@causeway/openstack";
import type { MachineStep } from "./steps.ts";

const SUBPORT_UPDATE = { reason: "SubportUpdateFailed", isUpdate: true } as const;

/** A trunk port, and those of its subports that exist. */
export interface Trunked {
  readonly port: Port;
  readonly wanted: ResolvedPort;
  readonly subports: readonly { readonly port: Port; readonly wanted: ResolvedPort }[];
}

/** The trunk of a port that is to have one: it has the port's name and tags, and its subports from the start. */
export function trunkSteps({ port, wanted, subports }: Trunked): MachineStep[] {
  if (!wanted.trunk) return [];
  if (port.trunk_details !== undefined) return subportSteps(port.trunk_details, subports);
  const below = subports.map(subPortOf);
  const body = {
    name: port.name,
    description: port.description,
    port_id: port.id,
    ...(below.length > 0 ? { sub_ports: below } : {}),
  };
  return [{ type: "create-trunk", reason: "TrunkCreateFailed", body, tags: wanted.tags ?? [] }];
}

/** Subports that the trunk lacks, and those that it has with another VLAN, which are removed from it first. */
function subportSteps(trunk: NonNullable<Port["trunk_details"]>, subports: Trunked["subports"]): MachineStep[] {
  const present = new Map(trunk.sub_ports.map((sub) => [sub.port_id, sub.segmentation_id]));
  const moved = subports.filter(
    ({ port, wanted }) => present.has(port.id) && present.get(port.id) !== wanted.segmentationID,
  );
  const lacking = subports.filter(({ port }) => !present.has(port.id));
  return [
    ...takenOff(
      trunk.trunk_id,
      moved.map(({ port }) => port.id),
    ),
    ...added(trunk.trunk_id, lacking),
  ];
}

function added(id: string, subports: Trunked["subports"]): MachineStep[] {
  if (subports.length === 0) return [];
  return [{ type: "add-subports", ...SUBPORT_UPDATE, id, subports: subports.map(subPortOf) }];
}

/** Takes ports off a trunk; they exist still. */
export function takenOff(id: string, ports: readonly string[]): MachineStep[] {
  return ports.length === 0 ? [] : [{ type: "remove-subports", ...SUBPORT_UPDATE, id, ports: [...ports] }];
}

function subPortOf({ port, wanted }: Trunked["subports"][number]): SubPort {
  return {
    port_id: port.id,
    segmentation_type: wanted.segmentationType ?? "vlan",
    segmentation_id: wanted.segmentationID ?? 0,
  };
}

/**
 * Neutron does not delete a port while it has a trunk, nor a trunk while it has subports. The subports themselves
 * remain.
 */
export function trunkDeletions(ports: readonly Port[], reason: string): MachineStep[] {
  return ports.flatMap(({ id, trunk_details: trunk }): MachineStep[] =>
    trunk
      ? [
          {
            type: "delete-trunk",
            reason,
            id: trunk.trunk_id,
            portId: id,
            subports: trunk.sub_ports.map((p) => p.port_id),
          },
        ]
      : [],
  );
}
