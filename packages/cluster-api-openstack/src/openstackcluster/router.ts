import type { ExternalGatewayInfo, Network, Router, Subnet } from "@causeway/openstack";
import { parseCidr } from "../resources/cidr.ts";
import { description, networkName } from "../resources/naming.ts";
import { ofName } from "../resources/of-name.ts";
import { findOwned } from "../resources/ownership.ts";
import { resolveParameter, resolveSubnet, type Resolution } from "../resources/parameters.ts";
import { found, missing, type ClusterContext, type Part } from "./model.ts";
import type { ClusterStep } from "./steps.ts";
import { duplicates, tagSteps, type NetworkPart } from "./network.ts";
import { portsOnDevice, type Ports } from "./port-index.ts";

/** The router part of a plan. `connected` is true once the subnets have their way out, or need none. */
export interface RouterPart extends Part {
  readonly router?: Router;
  readonly external?: Network;
  readonly connected: boolean;
}

/** The external network to use: the one named, the only one there is, or none. */
export function externalNetwork({ object, cloud }: ClusterContext): Resolution<Network | undefined> {
  const { spec, status } = object;
  if (spec.enableExternalNetwork === false) return { ok: true, resource: undefined };
  const external = cloud.networks.filter((n) => n["router:external"]);
  if (spec.externalNetwork) return resolveParameter(spec.externalNetwork, external, "spec.externalNetwork");
  if (external.length < 2) return { ok: true, resource: external[0] };
  const recorded = external.find((n) => n.id === status?.externalNetwork?.id);
  if (recorded) return { ok: true, resource: recorded };
  const names = external.map((n) => n.name).sort();
  return {
    ok: false,
    problem: `The cloud has several external networks (${names.join(", ")}); name one in spec.externalNetwork`,
  };
}

/** A router with a gateway and an interface in each managed subnet. */
export function planRouter(context: ClusterContext, part: NetworkPart): RouterPart {
  const resolved = externalNetwork(context);
  if (!resolved.ok) return broken("ExternalNetworkNotFound", resolved.problem);
  const external = resolved.resource;
  const given = givenRouter(context);
  if (given && !given.ok) return { ...broken("RouterNotFound", given.problem), ...(external ? { external } : {}) };
  const extra = external ? { external } : {};
  if (!context.object.spec.managedSubnets?.length) {
    const finding = found("RouterReady", "RouterNotManaged", "The network is not managed, so neither is its router");
    return { finding, steps: [], connected: true, ...extra, ...(given ? { router: given.resource } : {}) };
  }
  if (given) return { ...connect(context, part, given.resource), ...extra };
  if (!external) {
    const finding = found("RouterReady", "NoExternalNetwork", "Without an external network there is no router");
    return { finding, steps: [], connected: true };
  }
  return { ...planOwned(context, part, external), external };
}

function givenRouter({ object, cloud }: ClusterContext): Resolution<Router> | undefined {
  const { router } = object.spec;
  return router && resolveParameter(router, cloud.routers, "spec.router");
}

function planOwned(context: ClusterContext, part: NetworkPart, external: Network): RouterPart {
  const { object, cloud, crn, tags } = context;
  const gateway = gatewayOf(context, external);
  if (!gateway.ok) return broken("InvalidExternalIP", gateway.problem);
  const name = networkName(crn);
  const recordedId = object.status?.router?.id;
  const mark = { name, description: description(crn), projectId: cloud.projectId, recordedId };
  const routers = findOwned(ofName(cloud, "routers", name), mark);
  if (routers.kind === "several") return broken("DuplicateRouter", duplicates("routers", name, routers.ids));
  if (routers.kind === "none") {
    const body = { name, description: mark.description, external_gateway_info: gateway.resource };
    return {
      finding: missing("RouterReady", "CreatingRouter", `Creating router ${name}`),
      steps: [{ for: "RouterReady", type: "create-router", body }],
      connected: false,
    };
  }
  const router = routers.resource;
  const connection = connect(context, part, router);
  return {
    ...connection,
    steps: [...tagSteps("routers", router, tags), ...gatewaySteps(router, gateway.resource), ...connection.steps],
  };
}

function gatewayOf({ object, cloud }: ClusterContext, external: Network): Resolution<ExternalGatewayInfo> {
  const addresses: { subnet_id?: string; ip_address?: string }[] = [];
  const candidates = cloud.subnets.filter((s) => s.network_id === external.id);
  for (const [i, ip] of (object.spec.managedRouter?.externalIPs ?? []).entries()) {
    const subnet = resolveSubnet(ip.subnet, candidates, `spec.managedRouter.externalIPs[${i}].subnet`);
    if (!subnet.ok) return subnet;
    addresses.push({ subnet_id: subnet.resource.id, ...(ip.fixedIP ? { ip_address: ip.fixedIP } : {}) });
  }
  return {
    ok: true,
    resource: { network_id: external.id, ...(addresses.length > 0 ? { external_fixed_ips: addresses } : {}) },
  };
}

/** Sets a gateway if there is none. An existing one remains (see immutable.ts). */
function gatewaySteps(router: Router, wanted: ExternalGatewayInfo): ClusterStep[] {
  if (router.external_gateway_info) return [];
  return [{ for: "RouterReady", type: "update-router", id: router.id, gateway: wanted }];
}

function connect(context: ClusterContext, part: NetworkPart, router: Router): RouterPart {
  const attached = attachedSubnets(context.cloud, router);
  const overlap = overlapOnRouter(context, part, { router, attached });
  if (overlap !== undefined) return { ...broken("OverlappingCIDR", overlap), router };
  const lacking = part.subnets.filter((s) => !attached.has(s.id));
  const steps = lacking.map((s) => ({
    for: "RouterReady" as const,
    type: "add-router-interface" as const,
    routerId: router.id,
    subnetId: s.id,
  }));
  const connected = part.subnets.length > 0 && lacking.length === 0;
  if (connected) return { finding: found("RouterReady", "RouterReady"), steps, router, connected };
  const finding = missing("RouterReady", "ConnectingRouter", "Connecting the subnet to the router");
  return { finding, steps, router, connected, waitsForOthers: true };
}

/** Subnets in which a router has an interface. */
export function attachedSubnets(ports: Ports, router: Pick<Router, "id">): ReadonlySet<string> {
  const interfaces = portsOnDevice(ports, router.id).filter((p) => isRouterInterface(p.device_owner));
  return new Set(interfaces.flatMap((p) => p.fixed_ips.map((ip) => ip.subnet_id)));
}

/** network:router_interface and its distributed and highly available kin; not the gateway. */
export function isRouterInterface(owner: string): boolean {
  return owner.startsWith("network:") && owner.includes("router") && owner !== "network:router_gateway";
}

function overlapOnRouter(
  context: ClusterContext,
  part: NetworkPart,
  { router, attached }: { readonly router: Router; readonly attached: ReadonlySet<string> },
): string | undefined {
  const { cloud, object } = context;
  const wanted: readonly (Pick<Subnet, "cidr"> & { id?: string })[] =
    part.subnets.length > 0 ? part.subnets : (object.spec.managedSubnets ?? []);
  for (const { id, cidr } of wanted) {
    const range = parseCidr(cidr);
    const other = cloud.subnets.find((s) => attached.has(s.id) && s.id !== id && range?.overlaps(s.cidr));
    if (other) return `${cidr} overlaps subnet ${other.name || other.id} (${other.cidr}) on router ${router.name}`;
  }
  return undefined;
}

function broken(reason: string, message: string): RouterPart {
  return { finding: missing("RouterReady", reason, message), steps: [], connected: false };
}
