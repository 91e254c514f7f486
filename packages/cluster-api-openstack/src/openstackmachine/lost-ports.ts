import type { ResolvedPort } from "@causeway/api";
import type { Port, Server } from "@causeway/openstack";
import { creation, findPort } from "./build.ts";
import { byPreference } from "./duplicate-ports.ts";
import type { MachineContext } from "./model.ts";
import { markOf } from "./ports.ts";
import { otherServers } from "./server.ts";
import type { MachineStep } from "./steps.ts";
import { trunkDeletions, trunkSteps } from "./trunks.ts";

const failure = { reason: "PortUpdateFailed", isUpdate: true } as const;

interface PortsOfServer {
  /** The server's, and those made for it. */
  readonly ports: readonly Port[];
  readonly wanted: readonly ResolvedPort[];
}

/**
 * A running server whose recorded port was deleted gets another one of that name; one that was detached is attached
 * again. Nothing is made for a server of which no port is recorded as lost: it may have been given other ports.
 */
export function planLostPorts(
  context: MachineContext,
  server: Server,
  { ports, wanted }: PortsOfServer,
): { readonly steps: readonly MachineStep[]; readonly ids: readonly string[] } {
  const { object, cloud } = context;
  if (object.status?.initialization?.provisioned !== true && context.recordsProviderId) return { steps: [], ids: [] };
  const recorded = (object.status?.resources?.ports ?? []).map(({ id }) => id);
  const lost = recorded.filter((id) => !cloud.ports.some((port) => port.id === id));
  const own = wanted.filter(({ parent }) => parent === undefined);
  const missing = own.filter(({ name }) => !ports.some((port) => port.name === name));
  const unattached = ports.filter((port) => port.device_id === "" && !isListed(server, port));
  const [surplus, detached] = bySurplus(server, unattached, ports);
  // One of them may be what another server of the machine, which is being built, is about to have.
  const isShared = otherServers(context, server).length > 0;
  const creations = lost.length === 0 ? [] : missing.filter((port) => findPort(context, port).kind === "none");
  const attachments = (isShared ? [] : oneOfEach(context, detached)).flatMap((port): MachineStep[] => {
    const spec = own.find(({ name }) => name === port.name);
    if (!spec) return [];
    const trunk = port.trunk_details ? [] : trunkSteps({ port, wanted: spec, subports: [] });
    return [
      ...trunk.map((step) => ({ ...step, ...failure })),
      { type: "attach-port", ...failure, serverId: server.id, portId: port.id },
    ];
  });
  return {
    steps: [
      ...creations.map((port) => ({ ...creation(context, port), ...failure, replaces: lost })),
      ...attachments,
      ...(isShared ? [] : deletions(surplus)),
    ],
    ids: missing.length > 0 ? lost : [],
  };
}

/** Neutron deletes no port that has a trunk. */
function deletions(ports: readonly Port[]): MachineStep[] {
  return [
    ...trunkDeletions(ports, failure.reason).map((step) => ({ ...step, ...failure })),
    ...ports.map(({ id, name }): MachineStep => ({ type: "delete-port", ...failure, id, name })),
  ];
}

/**
 * Ports in whose place the server has another one of their marks, and the others. A creation whose response was lost is
 * repeated when no list shows its port; where the cloud was slower than that, there are two, of which one has no
 * server.
 */
function bySurplus(
  server: Server,
  unattached: readonly Port[],
  ports: readonly Port[],
): [surplus: Port[], others: Port[]] {
  const has = (port: Port): boolean => port.device_id !== "" || (port.fixed_ips.length > 0 && isListed(server, port));
  const taken = new Set(ports.filter(has).map(markOf));
  return [unattached.filter((port) => taken.has(markOf(port))), unattached.filter((port) => !taken.has(markOf(port)))];
}

/** Of ports that were created for one that was lost, and of which the server has none yet: it gets one of each mark. */
function oneOfEach(context: MachineContext, ports: readonly Port[]): Port[] {
  const ranked = byPreference(context, ports);
  return ranked.filter((port, index) => ranked.findIndex((one) => markOf(one) === markOf(port)) === index);
}

/**
 * True if Nova lists the port's addresses: it has the port, and the list of ports is older than that. A port without an
 * address cannot be distinguished, and is left alone. Two networks may have one address: the MAC address decides where
 * Nova says it.
 */
function isListed({ addresses }: Server, { mac_address, fixed_ips }: Port): boolean {
  if (fixed_ips.length === 0) return true;
  const own = new Set(fixed_ips.map(({ ip_address }) => ip_address));
  return Object.values(addresses)
    .flat()
    .some(({ addr, "OS-EXT-IPS-MAC:mac_addr": mac }) => (mac === undefined ? own.has(addr) : mac === mac_address));
}
