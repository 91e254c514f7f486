import type { Caller } from "../../kernel/interface.ts";
import { contains, overlaps, parseCidr, parseIp } from "../rules/addresses.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { owned, readBody, type NetworkApp } from "../kit/collection.ts";
import { conflict, neutronError, portNotFound, subnetNotFound } from "../errors.ts";
import { isTaken, insertPort, addressFields, removePort } from "../rules/port-rows.ts";
import { touched, type NetworkState, type Port, type Router, type Subnet } from "../model.ts";
import { badRouter, portsOf, type routerCollection } from "./routers.ts";
import { seesSubnet } from "./subnets.ts";

const owner = "network:router_interface";

/** PUT /routers/ID/add_router_interface and remove_router_interface, by subnet or by port. */
export function mountRouterInterfaces(
  app: NetworkApp,
  state: NetworkState,
  routers: ReturnType<typeof routerCollection>,
): void {
  const verbs = { add_router_interface: add, remove_router_interface: remove };
  for (const [verb, run] of Object.entries(verbs)) {
    app.put(`/v2.0/routers/:id/${verb}`, async (c) => {
      const ask = readAsk(await readBody(c));
      const router = owned(routers, c.var.caller, { id: c.req.param("id") });
      return c.json(state.kernel.atomic(() => run(state, { router, caller: c.var.caller }, ask)));
    });
  }
}

interface Ask {
  readonly subnetId?: string;
  readonly portId?: string;
}

interface At {
  readonly router: Router;
  readonly caller: Caller;
}

function readAsk(body: JsonObject): Ask {
  const { subnet_id: subnet, port_id: port } = body;
  return {
    ...(typeof subnet === "string" ? { subnetId: subnet } : {}),
    ...(typeof port === "string" ? { portId: port } : {}),
  };
}

function add(state: NetworkState, at: At, ask: Ask): JsonObject {
  if (ask.subnetId && ask.portId) throw badRouter("Cannot specify both subnet-id and port-id.");
  if (ask.subnetId) return addSubnet(state, at, ask.subnetId);
  if (ask.portId) return addPort(state, at, ask.portId);
  throw badRouter("Either subnet_id or port_id must be specified.");
}

function addSubnet(state: NetworkState, { router, caller }: At, subnetId: string): JsonObject {
  const subnet = state.subnets.get(subnetId);
  if (!subnet || !seesSubnet(state, caller, subnet)) throw subnetNotFound(subnetId);
  if (subnet.gateway_ip === null) throw badRouter("Subnet for router interface must have a gateway IP");
  checkOverlap(state, router, subnet);
  if (isTaken(state, subnet.id, subnet.gateway_ip)) {
    const why = `IP address ${subnet.gateway_ip} already allocated in subnet ${subnet.id}`;
    throw conflict("IpAddressAlreadyAllocated", why);
  }
  const port = insertPort(state, {
    project_id: router.project_id,
    network_id: subnet.network_id,
    device_id: router.id,
    device_owner: owner,
    status: "ACTIVE",
    ...addressFields([{ subnet_id: subnet.id, ip_address: subnet.gateway_ip }]),
  });
  return answer(state, router, port, [subnet.id]);
}

function addPort(state: NetworkState, { router, caller }: At, portId: string): JsonObject {
  const port = state.ports.get(portId);
  if (!port || (!caller.isAdmin && port.project_id !== caller.projectId)) throw portNotFound(portId);
  if (port.device_id !== "") {
    const where = `Unable to complete operation on port ${portId} for network ${port.network_id}.`;
    throw conflict("PortInUse", `${where} Port already has an attached device ${port.device_id}.`);
  }
  if (port.subnet_ids.length === 0) throw badRouter("Router port must have at least one fixed IP");
  for (const id of port.subnet_ids) {
    const subnet = state.subnets.get(id);
    if (subnet) checkOverlap(state, router, subnet);
  }
  const taken = { device_id: router.id, device_owner: owner, status: "ACTIVE" };
  return answer(
    state,
    router,
    state.ports.update(port.id, { ...taken, ...touched(state.kernel, port) }),
    port.subnet_ids,
  );
}

function checkOverlap(state: NetworkState, router: Router, subnet: Subnet): void {
  const wanted = parseCidr(subnet.cidr);
  for (const port of state.ports.by("device_id", router.id)) {
    for (const id of port.subnet_ids) {
      if (id === subnet.id) throw badRouter(`Router already has a port on subnet ${subnet.id}.`);
      const other = state.subnets.get(id);
      const cidr = other && parseCidr(other.cidr);
      if (!other || !cidr || !wanted || !overlaps(cidr, wanted)) continue;
      throw badRouter(
        `Cidr ${subnet.cidr} of subnet ${subnet.id} overlaps with cidr ${other.cidr} of subnet ${other.id}.`,
      );
    }
  }
}

function remove(state: NetworkState, at: At, ask: Ask): JsonObject {
  const { router } = at;
  const interfaces = portsOf(state, router.id, owner);
  if (!ask.portId && !ask.subnetId) throw badRouter("Either subnet_id or port_id must be specified.");
  const port = ask.portId
    ? interfaces.find((p) => p.id === ask.portId)
    : interfaces.find((p) => p.subnet_ids.includes(ask.subnetId ?? ""));
  if (!port && ask.portId) {
    const why = `Router ${router.id} does not have an interface with id ${ask.portId}`;
    throw neutronError(404, "RouterInterfaceNotFound", why);
  }
  if (!port) throw noInterface(state, at, ask.subnetId ?? "");
  for (const id of port.subnet_ids) checkUnused(state, router, id);
  const subnets = port.subnet_ids;
  removePort(state, port);
  return answer(state, router, port, subnets);
}

function noInterface(state: NetworkState, { router, caller }: At, subnetId: string) {
  const subnet = state.subnets.get(subnetId);
  if (!subnet || !seesSubnet(state, caller, subnet)) return subnetNotFound(subnetId);
  const why = `Router ${router.id} has no interface on subnet ${subnetId}`;
  return neutronError(404, "RouterInterfaceNotFoundForSubnet", why);
}

/** 409 while floating IPs or routes of the router go through this subnet. */
function checkUnused(state: NetworkState, router: Router, subnetId: string): void {
  const what = `Router interface for subnet ${subnetId} on router ${router.id} cannot be deleted, as it is required by one or more`;
  const cidr = parseCidr(state.subnets.get(subnetId)?.cidr ?? "");
  if (!cidr) return;
  const inside = (text: string | null) => {
    const ip = text === null ? undefined : parseIp(text);
    return ip !== undefined && contains(cidr, ip);
  };
  if (router.routes.some((route) => inside(route.nexthop))) {
    throw conflict("RouterInterfaceInUseByRoute", `${what} routes.`);
  }
  if (state.floatingIps.by("router_id", router.id).some((floating) => inside(floating.fixed_ip_address))) {
    throw conflict("RouterInterfaceInUseByFloatingIP", `${what} floating IPs.`);
  }
}

function answer(state: NetworkState, router: Router, port: Port, subnets: readonly string[]): JsonObject {
  state.routers.update(router.id, touched(state.kernel, router));
  return {
    id: router.id,
    tenant_id: router.project_id,
    port_id: port.id,
    network_id: port.network_id,
    subnet_id: subnets[0],
    subnet_ids: subnets,
  };
}
