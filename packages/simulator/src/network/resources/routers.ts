import type { Caller } from "../../kernel/interface.ts";
import { contains, parseCidr, parseIp } from "../rules/addresses.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import {
  address,
  bool,
  common,
  list,
  listOf,
  object,
  routes,
  shown,
  text,
  uuid,
  type InputOf,
} from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { conflict, forbidden, invalidValue, networkNotFound, neutronError, routerNotFound } from "../errors.ts";
import { seesNetwork } from "./networks.ts";
import { addressFields, askedAddresses, defaultAddresses, insertPort, removePort } from "../rules/port-rows.ts";
import {
  born,
  defined,
  touched,
  type GatewayInfo,
  type NetworkState,
  type Port,
  type Route,
  type Router,
} from "../model.ts";
import { checkZoneHints } from "../rules/zones.ts";

interface GatewayWish {
  readonly network_id?: string | undefined;
  readonly enable_snat?: boolean | undefined;
  readonly external_fixed_ips?:
    | readonly { subnet_id?: string | undefined; ip_address?: string | undefined }[]
    | undefined;
}

const attributes = {
  ...common,
  admin_state_up: { read: bool },
  external_gateway_info: { read: gatewayInfo, filter: false },
  routes: { read: routes, post: false, filter: false },
  availability_zone_hints: { read: listOf(text), put: false },
} as const;
type Attributes = typeof attributes;
type Input = InputOf<Attributes>;

/** Routers. Those with interfaces cannot be deleted. */
export function routerCollection(state: NetworkState): Collection<Router, Attributes> {
  return {
    singular: "router",
    plural: "routers",
    attributes,
    table: state.routers,
    indexes: ["name", "project_id"],
    filters: [],
    quota: "router",
    notFound: routerNotFound,
    sees: (caller, row) => caller.isAdmin || row.project_id === caller.projectId,
    view: (row, caller) => routerView(row, caller),
    create: (caller, projectId, input) => create(state, { caller, projectId }, input),
    update: (caller, row, change) => update(state, { caller, row }, change),
    remove: (_, row) => remove(state, row),
  };
}

function create(
  state: NetworkState,
  { caller, projectId }: { caller: Caller; projectId: string },
  input: Input,
): Router {
  const router = state.routers.insert({
    ...born(state.kernel, projectId, input),
    revision_number: 0,
    admin_state_up: input.admin_state_up ?? true,
    external_gateway_info: null,
    routes: [],
    availability_zone_hints: checkZoneHints(input.availability_zone_hints ?? []),
  });
  const wish = input.external_gateway_info;
  if (!wish?.network_id) return router;
  permitGateway(wish, caller, "create");
  const made = setGateway(state, router, wish, caller);
  return state.routers.update(made.id, touched(state.kernel, made));
}

function update(state: NetworkState, { caller, row }: { caller: Caller; row: Router }, change: Input): Router {
  const {
    external_gateway_info: wish,
    routes: wanted,
    project_id: _,
    availability_zone_hints: _z,
    ...rest
  } = defined(change);
  if (wanted) checkRoutes(state, row, wanted);
  let router = state.routers.update(row.id, {
    ...rest,
    ...(wanted ? { routes: wanted } : {}),
    ...touched(state.kernel, row),
  });
  if (wish === undefined) return router;
  permitGateway(wish, caller, "update");
  if (wish.network_id === undefined) return clearGateway(state, router);
  const now = router.external_gateway_info;
  if (now?.network_id === wish.network_id && !wish.external_fixed_ips) {
    return state.routers.update(row.id, {
      external_gateway_info: { ...now, enable_snat: wish.enable_snat ?? now.enable_snat },
    });
  }
  const kept = now?.network_id === wish.network_id ? { ...wish, external_fixed_ips: stayingIps(now, wish) } : wish;
  router = clearGateway(state, router);
  return setGateway(state, router, kept, caller);
}

/** A request with only a subnet is met by an address that the router has on it already. */
function stayingIps({ external_fixed_ips: had }: GatewayInfo, wish: GatewayWish): GatewayWish["external_fixed_ips"] {
  const asked = wish.external_fixed_ips?.map((entry) =>
    entry.ip_address === undefined ? (had.find((ip) => ip.subnet_id === entry.subnet_id) ?? entry) : entry,
  );
  return asked?.filter(
    ({ ip_address: ip }, at) => ip === undefined || asked.findIndex((other) => other.ip_address === ip) === at,
  );
}

function permitGateway(wish: GatewayWish, caller: Caller, verb: string): void {
  if (caller.isAdmin) return;
  const field =
    wish.enable_snat !== undefined ? "enable_snat" : wish.external_fixed_ips ? "external_fixed_ips" : undefined;
  if (!field) return;
  const rule = `rule:${verb}_router`;
  const info = `${rule}:external_gateway_info`;
  throw forbidden(`(${rule} and (${info} and (${info}:network_id and ${info}:${field})))`);
}

function setGateway(state: NetworkState, router: Router, wish: GatewayWish, caller: Caller): Router {
  const networkId = wish.network_id ?? "";
  const network = state.networks.get(networkId);
  if (!network || !seesNetwork(state, caller, network)) throw networkNotFound(networkId);
  if (!network["router:external"]) throw badRouter(`Network ${networkId} is not an external network.`);
  const port = insertPort(state, {
    project_id: "",
    network_id: networkId,
    device_id: router.id,
    device_owner: "network:router_gateway",
    status: "ACTIVE",
  });
  const place = { networkId, mac: port.mac_address, deviceOwner: port.device_owner };
  const ips = wish.external_fixed_ips
    ? askedAddresses(state, wish.external_fixed_ips, place)
    : defaultAddresses(state, place);
  const { fixed_ips: sorted } = state.ports.update(port.id, addressFields(ips));
  const info: GatewayInfo = {
    network_id: networkId,
    external_fixed_ips: sorted,
    enable_snat: wish.enable_snat ?? true,
  };
  return state.routers.update(router.id, { external_gateway_info: info, ...touched(state.kernel, router) });
}

function clearGateway(state: NetworkState, router: Router): Router {
  const info = router.external_gateway_info;
  if (!info) return router;
  if (state.floatingIps.by("router_id", router.id).length > 0) {
    const why = `since a gateway to external network ${info.network_id} is required by one or more floating IPs.`;
    throw conflict(
      "RouterExternalGatewayInUseByFloatingIp",
      `Gateway cannot be updated for router ${router.id}, ${why}`,
    );
  }
  for (const port of portsOf(state, router.id, "network:router_gateway")) removePort(state, port);
  return state.routers.update(router.id, { external_gateway_info: null, ...touched(state.kernel, router) });
}

function remove(state: NetworkState, router: Router): void {
  const interfaces = portsOf(state, router.id, "network:router_interface");
  if (interfaces.length > 0) {
    const ids = interfaces.map((port) => port.id).join(", ");
    throw conflict("RouterInUse", `Router ${router.id} has ports still attached: ${ids}`);
  }
  clearGateway(state, router);
  state.routers.remove(router.id);
}

/** A router's ports of one owner kind. */
export function portsOf(state: NetworkState, routerId: string, owner: string): readonly Port[] {
  return state.ports.by("device_id", routerId).filter((port) => port.device_owner === owner);
}

/** Every next hop must be an address that the router could reach directly, and none of its own. */
export function checkRoutes(state: NetworkState, router: Router, wanted: readonly Route[]): void {
  const ports = state.ports.by("device_id", router.id);
  const cidrs = ports.flatMap((port) =>
    port.subnet_ids.flatMap((id) => parseCidr(state.subnets.get(id)?.cidr ?? "") ?? []),
  );
  const own = new Set(ports.flatMap((port) => port.addresses));
  for (const route of wanted) {
    const hop = parseIp(route.nexthop);
    const format = `Invalid format for routes: ${shown(wanted)}`;
    if (!hop || !cidrs.some((cidr) => contains(cidr, hop))) {
      throw neutronError(400, "InvalidRoutes", `${format}, the nexthop is not connected with router`);
    }
    if (own.has(route.nexthop)) {
      throw neutronError(400, "InvalidRoutes", `${format}, the nexthop is used by router`);
    }
  }
}

/** Neutron's 400 for an interface that a router cannot have. */
export const badRouter = (why: string) => neutronError(400, "BadRequest", `Bad router request: ${why}`);

/** A router as Neutron returns it; `distributed` and `ha` only for administrators. */
export function routerView(row: Router, caller: Caller): JsonObject {
  const admin = caller.isAdmin ? { distributed: false, ha: false } : {};
  return { ...row, tenant_id: row.project_id, status: "ACTIVE", availability_zones: [], ...admin };
}

function gatewayInfo(value: unknown, field: string): GatewayWish {
  if (value === null) return {};
  const info = object(value, field);
  if (Object.keys(info).length === 0) return {};
  if (info["network_id"] === undefined) {
    throw invalidValue(field, `Data validation error: 'network_id' is required in '${shown(value)}'.`);
  }
  const ips = info["external_fixed_ips"];
  return {
    network_id: uuid(info["network_id"], field),
    enable_snat: info["enable_snat"] === undefined ? undefined : bool(info["enable_snat"]),
    external_fixed_ips: ips === undefined ? undefined : list(ips, field).map((entry) => externalIp(entry, field)),
  };
}

function externalIp(entry: unknown, field: string) {
  const { subnet_id: subnet, ip_address: ip } = isObject(entry) ? entry : {};
  return {
    subnet_id: subnet === undefined ? undefined : uuid(subnet, field),
    ip_address: ip === undefined ? undefined : address(ip, field),
  };
}
