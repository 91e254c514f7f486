import type { Caller } from "../../kernel/interface.ts";
import type { LinkedPort } from "../../kernel/links.ts";
import { ServiceError } from "../../kernel/service-error.ts";
import { isObject } from "../../kernel/json.ts";
import type { Network, Subnet } from "../../network/model.ts";
import { fault, invalid, providerFailed } from "../errors.ts";
import { driverOf } from "./drivers.ts";
import type { BalancerState, LoadBalancer } from "../model.ts";

/** Where a VIP is wanted; one of port, network and subnet. */
export interface VipWish {
  readonly id: string;
  readonly projectId: string;
  readonly provider: string;
  readonly vip_address?: string | null | undefined;
  readonly vip_port_id?: string | null | undefined;
  readonly vip_subnet_id?: string | null | undefined;
  readonly vip_network_id?: string | null | undefined;
  readonly additional_vips?: readonly AdditionalVip[] | undefined;
}

/** A further address for the VIP's port, on another subnet of its network (API 2.26). */
export interface AdditionalVip {
  readonly subnet_id: string;
  readonly ip_address?: string;
}

type Vip = Pick<
  LoadBalancer,
  "vip_address" | "vip_port_id" | "vip_subnet_id" | "vip_network_id" | "owns_port" | "additional_vips"
>;

/** Throws Octavia's 400 if the requested network, subnet or port of the VIP does not exist; checked first. */
export function checkVip(
  state: BalancerState,
  caller: Caller,
  wish: Pick<VipWish, "vip_port_id" | "vip_subnet_id" | "vip_network_id">,
): void {
  if (wish.vip_port_id) givenPort(state, caller, wish.vip_port_id);
  else if (wish.vip_subnet_id) subnetOf(state, caller, wish.vip_subnet_id);
  else if (wish.vip_network_id) checkNetwork(state, caller, wish.vip_network_id);
}

/** Finds or makes the port that holds the VIP. */
export function takeVip(state: BalancerState, caller: Caller, wish: VipWish): Vip {
  if (wish.vip_port_id) {
    const vip = givenPort(state, caller, wish.vip_port_id);
    if (driverOf(wish.provider) !== "ovn") return vip;
    // OVN's provider of Zed makes a port of its own for the same address, whatever port is given; Neutron refuses that.
    const { vip_network_id: networkId, vip_address } = vip;
    const own = makePort(state, { ...wish, vip_address }, { networkId, subnetId: vip.vip_subnet_id ?? "", more: [] });
    return vipOf(own, true);
  }
  const subnet = wish.vip_subnet_id ? subnetOf(state, caller, wish.vip_subnet_id) : undefined;
  const networkId = subnet?.network_id ?? wish.vip_network_id;
  if (!networkId) throw invalid("VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.");
  if (!subnet) checkNetwork(state, caller, networkId);
  const subnetId = subnet?.id ?? firstSubnet(state, networkId);
  const more = checkedMore(state, subnetId, wish.additional_vips ?? []);
  const port = makePort(state, wish, { networkId, subnetId, more });
  const [, ...others] = port.fixed_ips;
  // OVN's provider stores what was requested and gives it no address.
  const additional_vips = more.map(({ subnet_id }) => ({
    subnet_id,
    ip_address: others.find((other) => other.subnet_id === subnet_id)?.ip_address ?? null,
  }));
  return { ...vipOf(port, true), additional_vips };
}

/** Each address is on a subnet of its own, and all subnets are the network's. Throws Octavia's 400. */
function checkedMore(state: BalancerState, first: string, more: readonly AdditionalVip[]): readonly AdditionalVip[] {
  const ids = [first, ...more.map(({ subnet_id }) => subnet_id)];
  if (new Set(ids).size < ids.length) {
    throw invalid("Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.");
  }
  const networks = ids.map((id) => {
    const network = state.kernel.table<Subnet>("subnet").get(id)?.network_id;
    if (network === undefined) throw fault(500, `subnet not found (subnet id: ${id}).`);
    return network;
  });
  if (new Set(networks).size > 1) throw invalid("All VIP subnets must belong to the same network.");
  return more;
}

function givenPort(state: BalancerState, caller: Caller, id: string): Vip {
  const port = state.links.port(id);
  if (!port || (!caller.isAdmin && port.project_id !== caller.projectId)) throw fault(400, `Port ${id} not found.`);
  return vipOf(port, false);
}

function vipOf(port: LinkedPort, owns: boolean): Vip {
  const ip = port.fixed_ips[0];
  if (!ip) throw invalid(`Port ${port.id} has no fixed IP address.`);
  return {
    vip_address: ip.ip_address,
    vip_port_id: port.id,
    vip_subnet_id: ip.subnet_id,
    vip_network_id: port.network_id,
    owns_port: owns,
  };
}

function subnetOf(state: BalancerState, caller: Caller, id: string): Subnet {
  const subnet = state.kernel.table<Subnet>("subnet").get(id);
  const network = subnet && state.kernel.table<Network>("network").get(subnet.network_id);
  if (subnet && network && mayUse(caller, network)) return subnet;
  throw fault(400, `Subnet ${id} not found.`);
}

function checkNetwork(state: BalancerState, caller: Caller, id: string): void {
  const network = state.kernel.table<Network>("network").get(id);
  if (!network || !mayUse(caller, network)) throw fault(400, `Network ${id} not found.`);
}

const mayUse = (caller: Caller, network: Network): boolean =>
  caller.isAdmin || network.project_id === caller.projectId || network.shared || network["router:external"];

/** Octavia takes an IPv4 subnet of the network if there is one. */
function firstSubnet(state: BalancerState, networkId: string): string {
  const subnets = state.kernel.table<Subnet>("subnet", ["network_id"]).by("network_id", networkId);
  const subnet = subnets.find((s) => s.ip_version === 4) ?? subnets[0];
  if (!subnet) throw invalid("Supplied network does not contain a subnet.");
  return subnet.id;
}

interface Place {
  readonly networkId: string;
  readonly subnetId: string;
  readonly more: readonly AdditionalVip[];
}

function makePort(state: BalancerState, wish: VipWish, place: Place): LinkedPort {
  const ovn = driverOf(wish.provider) === "ovn";
  const held = {
    name: `octavia-lb-${wish.id}`,
    device_id: `lb-${wish.id}`,
    device_owner: "Octavia",
    admin_state_up: false,
  };
  try {
    return state.links.createPort(wish.projectId, {
      network_id: place.networkId,
      subnet_id: place.subnetId,
      ...(wish.vip_address ? { ip_address: wish.vip_address } : {}),
      ...(ovn || place.more.length === 0 ? {} : { more_ips: place.more }),
      ...(ovn ? { name: `ovn-lb-vip-${wish.id}` } : held),
    });
  } catch (error) {
    throw error instanceof ServiceError ? providerFailed(wish.provider, neutronSays(state, error)) : error;
  }
}

/** Neutron's message as the Neutron client passes it on. */
function neutronSays(state: BalancerState, { body, message }: ServiceError): string {
  const inner = isObject(body) ? body["NeutronError"] : undefined;
  const why = isObject(inner) && typeof inner["message"] === "string" ? inner["message"] : message;
  return `${why}\nNeutron server returns request_ids: ['req-${state.kernel.newId()}']`;
}
