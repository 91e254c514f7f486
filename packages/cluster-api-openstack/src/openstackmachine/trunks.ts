import type { ResolvedPort } from "@causeway/api";
import type { Port } from "@causeway/openstack";
import type { MachineStep } from "./steps.ts";

/** The trunk of a port that is to have one: it has the port's name and tags. */
export function trunkSteps(port: Port, wanted: Pick<ResolvedPort, "trunk" | "tags">): MachineStep[] {
  if (!wanted.trunk || port.trunk_details !== undefined) return [];
  const body = { name: port.name, description: port.description, port_id: port.id };
  return [{ do: "create-trunk", reason: "TrunkCreateFailed", body, tags: wanted.tags ?? [] }];
}

/**
 * Neutron does not delete a port while it has a trunk, nor a trunk while it has subports. The subports themselves stay.
 */
export function trunkDeletions(ports: readonly Port[], reason: string): MachineStep[] {
  return ports.flatMap(({ id, trunk_details: trunk }): MachineStep[] =>
    trunk
      ? [
          {
            do: "delete-trunk",
            reason,
            id: trunk.trunk_id,
            portId: id,
            subports: trunk.sub_ports.map((p) => p.port_id),
          },
        ]
      : [],
  );
}
