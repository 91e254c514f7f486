import type { Caller } from "../../kernel/interface.ts";
import { isObject } from "../../kernel/json.ts";
import { address, integer, oneOf, readCreate, readUpdate, text, uuid, type InputOf } from "../kit/attributes.ts";
import { checkedBody, seen, type NetworkApp, type NetworkEnv, type NetworkRequest } from "../kit/collection.ts";
import { badRequest, conflict, invalidValue, neutronError, portNotFound } from "../errors.ts";
import type { floatingIpCollection } from "./floating-ips.ts";
import { release } from "../rules/forwarding-rows.ts";
import { picked } from "../../kernel/rest/listing.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { filtersOf, filtered, pageOf, type ListSpec } from "../listing.ts";
import { routerBetween } from "../rules/reach.ts";
import { touched, type FloatingIp, type NetworkState, type Port, type PortForwarding } from "../model.ts";

const singular = "port_forwarding";
const protocols = oneOf("tcp", "udp", "dccp", "icmp", "ipv6-icmp", "sctp");

function portNumber(value: unknown, field: string): number {
  const port = integer(value);
  if (port < 1 || port > 65535) throw invalidValue(field, `'${port}' is not a valid port.`);
  return port;
}

const attributes = {
  external_port: { read: portNumber },
  internal_port: { read: portNumber },
  internal_port_id: { read: uuid, required: true },
  internal_ip_address: { read: address },
  protocol: { read: protocols },
  description: { read: text },
} as const;
type Input = InputOf<typeof attributes>;
const kind = { singular, attributes };

const refused = (why: string) => neutronError(400, "BadRequest", `Bad port_forwarding request: ${why}.`);
const notFound = (id: string) =>
  neutronError(404, "PortForwardingNotFound", `Port Forwarding ${id} could not be found.`);

const spec: ListSpec<PortForwarding> = {
  plural: "port_forwardings",
  notFound,
  filterable: new Set(["id", "external_port", "external_port_range", "internal_port_id", "protocol", "description"]),
  readers: new Map([["protocol", protocols]]),
  shown: (row) => view(row),
};

/** Ports of a floating IP that lead to ports of internal addresses: /floatingips/ID/port_forwardings. */
export function mountPortForwardings(
  app: NetworkApp,
  state: NetworkState,
  floatingIps: ReturnType<typeof floatingIpCollection>,
): void {
  const { kernel, forwardings } = state;
  const path = "/v2.0/floatingips/:fip/port_forwardings";
  const floatingOf = (c: NetworkRequest) => seen(floatingIps, c.var.caller, c.req.param("fip") ?? "");
  const rowOf = (c: NetworkRequest) => {
    const [floating, id] = [floatingOf(c), c.req.param("id") ?? ""];
    const row = forwardings.get(id);
    if (row?.floatingip_id !== floating.id) throw notFound(id);
    return row;
  };
  mountResource<NetworkEnv, PortForwarding>(app, kernel, {
    path,
    one: singular,
    many: "port_forwardings",
    readsBodyFirst: true,
    find: rowOf,
    list(c) {
      const url = new URL(c.req.url);
      const all = forwardings.by("floatingip_id", floatingOf(c).id);
      return { rows: pageOf(filtered(all, filtersOf(url.searchParams, spec), spec), url, spec).rows };
    },
    view: (c, row, verb) =>
      picked(view(row), verb === "list" || verb === "show" ? (c.req.queries("fields") ?? []) : []),
    givenOf: (body, verb, c) =>
      (verb === "update" ? readUpdate : readCreate)(kind, givenIn(checkedBody(body)), c.var.caller),
    create: (c, input) => create(state, { floating: floatingOf(c), caller: c.var.caller }, input as Input),
    update: (c, row, input) => update(state, { row, caller: c.var.caller }, input as Input),
    remove(_c, row) {
      forwardings.remove(row.id);
      release(state, row.floatingip_id);
    },
  });
}

function givenIn(body: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(body[singular])) throw badRequest(`Unable to find '${singular}' in request body`);
  return body[singular];
}

function view(row: PortForwarding) {
  const { floatingip_id: _, ...wire } = row;
  return {
    ...wire,
    external_port_range: `${row.external_port}:${row.external_port}`,
    internal_port_range: `${row.internal_port}:${row.internal_port}`,
  };
}

interface ForwardingContext {
  readonly floating: FloatingIp;
  readonly caller: Caller;
}

function create(state: NetworkState, { floating, caller }: ForwardingContext, input: Input): PortForwarding {
  const { internal_port_id: portId = "", protocol = "tcp", external_port: outer = 0, internal_port: inner = 0 } = input;
  const port = state.ports.get(portId);
  if (!port || (!caller.isAdmin && port.project_id !== caller.projectId)) throw portNotFound(portId);
  const target = targetOf(state, { port, asked: input.internal_ip_address, floating });
  const wish: PortForwarding = {
    id: state.kernel.newId(),
    floatingip_id: floating.id,
    description: input.description ?? "",
    protocol,
    external_port: outer,
    internal_port: inner,
    internal_ip_address: target.address,
    internal_port_id: portId,
  };
  checkCollisions(state, wish);
  checkFree(state, { floating, port, address: target.address });
  const made = state.forwardings.insert(wish);
  const change = { router_id: target.routerId, status: "ACTIVE" };
  let row = state.floatingIps.update(floating.id, { ...change, ...touched(state.kernel, floating) });
  if (floating.status !== "ACTIVE") row = state.floatingIps.update(row.id, touched(state.kernel, row));
  return made;
}

function update(
  state: NetworkState,
  { row, caller }: { row: PortForwarding; caller: Caller },
  input: Input,
): PortForwarding {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const wish: PortForwarding = { ...row, ...(Object.fromEntries(given) as Partial<PortForwarding>) };
  const port = state.ports.get(wish.internal_port_id);
  if (!port || (!caller.isAdmin && port.project_id !== caller.projectId)) throw portNotFound(wish.internal_port_id);
  if (!port.addresses.includes(wish.internal_ip_address)) {
    throw refused(
      `The internal IP does not correspond to an address on the internal port, which has fixed_ips ${shownIps(port)}`,
    );
  }
  checkCollisions(state, wish);
  return state.forwardings.update(row.id, wish);
}

interface Place {
  readonly port: Port;
  readonly asked: string | undefined;
  readonly floating: FloatingIp;
}

/** The internal address, and the router between it and the floating IP. */
function targetOf(state: NetworkState, { port, asked, floating }: Place): { address: string; routerId: string } {
  const fours = port.fixed_ips.filter((ip) => ip.ip_address.includes("."));
  if (fours.length === 0) throw refused(`Requested internal port ${port.id} must allocate an IPv4 address at least`);
  const fixed = asked === undefined ? fours[0] : fours.find((ip) => ip.ip_address === asked);
  if (!fixed) {
    const what = `Requested internal IP address ${asked} is not suitable for internal neutron port ${port.id}`;
    throw refused(`${what}, as its fixed_ips are ${shownIps(port)}`);
  }
  const externalId = floating.floating_network_id;
  const routerId = routerBetween(state, { subnetId: fixed.subnet_id, externalId });
  if (routerId === undefined) {
    const what = `External network ${externalId} is not reachable from subnet ${fixed.subnet_id}`;
    throw refused(`${what}. Cannot set Port forwarding for port ${port.id} with Floating IP ${floating.id}`);
  }
  if (floating.router_id !== null && floating.router_id !== routerId) {
    const what = `The Floating IP ${floating.id} had been set on router ${floating.router_id}`;
    throw refused(`${what}, the internal Neutron port ${port.id} can not reach it`);
  }
  return { address: fixed.ip_address, routerId };
}

const shownIps = (port: Port): string =>
  `[${port.fixed_ips.map((ip) => `{'subnet_id': '${ip.subnet_id}', 'ip_address': '${ip.ip_address}'}`).join(", ")}]`;

function checkCollisions(state: NetworkState, wish: PortForwarding): void {
  const collide = (range: string, port: number) =>
    refused(
      `There is a port collision with the ${range}. The following ranges collides: ${port}:${port} and ${port}:${port}`,
    );
  const rival = (rows: readonly PortForwarding[], same: (row: PortForwarding) => boolean) =>
    rows.some((row) => row.id !== wish.id && row.protocol === wish.protocol && same(row));
  const inside = state.forwardings.by("internal_port_id", wish.internal_port_id);
  const sameInside = (row: PortForwarding) =>
    row.internal_ip_address === wish.internal_ip_address && row.internal_port === wish.internal_port;
  if (rival(inside, sameInside)) throw collide("internal_port_range", wish.internal_port);
  const outside = state.forwardings.by("floatingip_id", wish.floatingip_id);
  if (rival(outside, (row) => row.external_port === wish.external_port)) {
    throw collide("external_port_range", wish.external_port);
  }
}

/** 409 if the port has a floating IP of its own, or this floating IP a port. */
function checkFree(
  state: NetworkState,
  { floating, port, address: fixed }: { floating: FloatingIp; port: Port; address: string },
): void {
  const other = state.floatingIps.by("port_id", port.id)[0];
  if (other) {
    const what = `Cannot create port forwarding to floating IP ${other.floating_ip_address} (${other.id})`;
    const why = `with port ${port.id} using fixed IP ${fixed}, as that port already has a binding floating IP.`;
    throw conflict("PortHasBindingFloatingIP", `${what} ${why}`);
  }
  if (floating.port_id === null) return;
  const what = `Cannot associate floating IP ${floating.floating_ip_address} (${floating.id}) with port ${port.id}`;
  const why = `as that fixed IP already has a floating IP on external network ${floating.floating_network_id}.`;
  throw conflict("FloatingIPPortAlreadyAssociated", `${what} using fixed IP ${fixed}, ${why}`);
}
