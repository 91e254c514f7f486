import type { Port } from "@causeway/openstack";
import { tagsToSet } from "../resources/ownership.ts";
import { portName } from "../resources/naming.ts";
import type { MachineContext } from "./model.ts";
import type { MachineStep } from "./steps.ts";
import { addressPairs } from "./ports.ts";

/** What may change on the ports of a running server: their allowed address pairs; and tags that a crash left out. */
export function planPortUpdates(context: MachineContext, ports: readonly Port[]): MachineStep[] {
  const { object, name, infrastructure } = context;
  const wide = [...(object.spec.tags ?? []), ...(infrastructure?.spec.tags ?? [])];
  return (object.spec.ports?.length ? object.spec.ports : [{}]).flatMap((spec, index): MachineStep[] => {
    const port = ports.find((p) => p.name === portName(name, index, spec.nameSuffix));
    if (!port) return [];
    const pairs = addressPairs(spec.allowedAddressPairs ? { allowedAddressPairs: spec.allowedAddressPairs } : {});
    const differ = spec.allowedAddressPairs !== undefined && !samePairs(port, pairs);
    const tags = tagsToSet(port.tags, [...new Set([...wide, ...(spec.tags ?? [])])]);
    return [
      ...(differ ? [{ do: "update-port", reason: "PortUpdateFailed", id: port.id, pairs } as const] : []),
      ...(tags ? [{ do: "set-port-tags", reason: "PortUpdateFailed", id: port.id, tags } as const] : []),
    ];
  });
}

/** Neutron fills a missing MAC in with the port's own. */
function samePairs(port: Port, wanted: readonly { ip_address: string; mac_address?: string }[]): boolean {
  const key = (pair: { ip_address: string; mac_address?: string }) =>
    `${pair.ip_address}|${pair.mac_address ?? port.mac_address}`;
  return port.allowed_address_pairs.map(key).sort().join() === wanted.map(key).sort().join();
}
