import type { IPAddressClaim, OpenStackMachine } from "@causeway/api";
import type { WantedCondition } from "@causeway/kubernetes";
import type { Port, Server } from "@causeway/openstack";
import type { AddressClaim, MachineContext } from "./model.ts";
import type { MachineStep } from "./steps.ts";
import { waiting, type Outcome } from "./outcome.ts";

const type = "FloatingAddressFromPoolReady";
const reason = "FloatingIPError";

/** The claim of a machine's floating IP, as upstream names it. */
export function claimName({ metadata }: Pick<OpenStackMachine, "metadata">): string {
  return `${metadata.name}-floating-ip-address`;
}

/**
 * The claim of that name as the machine's, with the address that it was given. One that is being deleted is an earlier
 * machine's of that name, or this one's whose deletion ended in between: neither is used, unless the machine goes, too.
 */
export function usedClaim(
  { metadata }: OpenStackMachine,
  claim: IPAddressClaim | undefined,
  address: string | undefined,
): AddressClaim | undefined {
  if (!claim) return undefined;
  const isEnding = claim.metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp === undefined;
  return isEnding ? undefined : { address };
}

/** Before the ports: an address of the pool. Undefined: the machine wants none, or has one. */
export function planClaim(context: MachineContext): Outcome | undefined {
  const { object, claim } = context;
  const pool = object.spec.floatingIPPoolRef;
  if (!pool || claim?.address !== undefined) return undefined;
  const what = `IPAddressClaim ${claimName(object)} to be given an address by ${pool.kind} ${pool.name}`;
  const finding: WantedCondition = {
    type,
    status: "False",
    reason: "WaitingForIPAMProvider",
    message: `Waiting for ${what}`,
  };
  const base = { ...waiting("WaitingForIPAMProvider", what), more: [finding] };
  if (claim) return base;
  // The finalizer first: a deletion at any moment finds the claim.
  const finalizer: MachineStep[] = object.metadata.finalizers?.includes(context.finalizer)
    ? []
    : [{ type: "add-finalizer", reason }];
  const { apiGroup = "infrastructure.cluster.x-k8s.io", kind, name } = pool;
  return {
    ...base,
    steps: [...finalizer, { type: "create-claim", reason, name: claimName(object), pool: { apiGroup, kind, name } }],
  };
}

/** Attaches the claimed floating IP to the server. */
export function planAddress(
  context: MachineContext,
  server: Server,
  ports: readonly Port[],
): Pick<Outcome, "steps" | "more"> {
  const { object, claim, cloud } = context;
  if (!object.spec.floatingIPPoolRef) return { steps: [] };
  const finding = (status: "True" | "False", why: string, message?: string): readonly WantedCondition[] => [
    { type, status, reason: why, ...(message === undefined ? {} : { message }) },
  ];
  const address = claim?.address;
  if (address === undefined)
    return { steps: [], more: finding("False", "WaitingForIPAMProvider", `${claimName(object)} has no address`) };
  const found = (cloud.floatingIps ?? []).find((ip) => ip.floating_ip_address === address);
  if (!found) return { steps: [], more: finding("False", reason, `The project has no floating IP ${address}`) };
  if (ports.some((port) => port.id === found.port_id)) return { steps: [], more: finding("True", "Ready") };
  if (found.port_id !== null)
    return { steps: [], more: finding("False", reason, `Floating IP ${address} is attached to port ${found.port_id}`) };
  const port = firstPort(context, ports);
  if (!port)
    return { steps: [], more: finding("False", reason, `Server ${server.id} has no port with an IPv4 address`) };
  const message = `Attaching floating IP ${address} to port ${port.id}`;
  return {
    steps: [{ type: "associate-floating-ip", reason, id: found.id, portId: port.id, address }],
    more: finding("False", "Attaching", message),
  };
}

/** The first port on the cluster's own network, which has the router; else the first one. */
function firstPort({ infrastructure }: MachineContext, ports: readonly Port[]): Port | undefined {
  const v4 = [...ports]
    .filter((port) => port.fixed_ips.some(({ ip_address }) => !ip_address.includes(":")))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return v4.find((port) => port.network_id === infrastructure?.status?.network?.id) ?? v4[0];
}
