import type { Port } from "@causeway/openstack";
import type { ClusterCloud } from "./model.ts";

/** The ports of a project, with their index where there is one. */
export type Ports = Pick<ClusterCloud, "ports" | "portIndex">;

/** The port with this ID; undefined: there is none, or no ID. */
export function portOf({ ports, portIndex }: Ports, id: string | undefined): Port | undefined {
  if (id === undefined) return undefined;
  return portIndex ? portIndex.get(id) : ports.find((port) => port.id === id);
}

/** The ports on a device: a server, a router. */
export function portsOnDevice({ ports, portIndex }: Ports, id: string): readonly Port[] {
  return portIndex ? portIndex.onDevice(id) : ports.filter((port) => port.device_id === id);
}
