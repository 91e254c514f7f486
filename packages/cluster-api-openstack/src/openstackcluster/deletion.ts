import { cidrContains, parseCidr, parseIp, shortList } from "@causeway/foundation";
import { setConditions } from "@causeway/kubernetes";
import type { Network, Port, Router } from "@causeway/openstack";
import { description, loadBalancerName, networkName } from "../resources/naming.ts";
import { ofName } from "../resources/of-name.ts";
import { ownNetworks } from "../resources/own-networks.ts";
import { isOwned, isOwnedAddress } from "../resources/ownership.ts";
import { resolveParameter } from "../resources/parameters.ts";
import { deletionAccount } from "./account.ts";
import { missing, type ClusterContext, type Observed, type ListNames } from "./model.ts";
import type { ClusterPlan } from "./plan.ts";
import { portsOnDevice } from "./port-index.ts";
import type { ClusterStep } from "./steps.ts";
import { isRouterInterface } from "./router.ts";
import { findGroup, nodeRoles } from "./security-groups.ts";

/** One stage of taking a cluster down: what to do, or what it waits for. Neither: the next stage. */
interface Stage {
  readonly steps?: readonly ClusterStep[];
  readonly wait?: string;
  readonly reason?: string;
  /** The user has to delete something. */
  readonly blocked?: true;
  readonly refresh?: ListNames;
}

const pollForeign = 30_000;
const BLOCKED = "DeletionBlocked";

function reasonOf({ blocked, reason = "Deleting" }: Stage): string {
  return blocked ? BLOCKED : reason;
}

/**
 * Deletes what was created for the cluster, in the order that OpenStack requires, and nothing else. It searches
 * for resources by name and mark, so it needs nothing that an interrupted creation did not record.
 */
export function planDeletion(context: ClusterContext, hold: Observed["hold"], now: number): ClusterPlan {
  const held = hold && hold.until > now ? hold : undefined;
  const stage: Stage = held ? { wait: held.message, reason: held.reason } : nextStage(context);
  const steps = stage.steps ?? [];
  const { object } = context;
  const message = stage.wait ?? "Deleting";
  const finding = { ...missing("NetworkReady", reasonOf(stage), message), type: "Ready" };
  const moment = { generation: object.metadata.generation, now };
  const status = { ...object.status, conditions: setConditions(object.status?.conditions, [finding], moment) };
  if (steps.length > 0) return { steps, status };
  return {
    steps,
    status,
    wait: { for: message, until: held?.until ?? now + pollForeign },
    ...(stage.refresh ? { refresh: stage.refresh } : {}),
    ...(stage.blocked ? { events: [{ type: "Warning", reason: BLOCKED, message }] } : {}),
  };
}

function nextStage(context: ClusterContext): Stage {
  const stages = [
    waitForMachines,
    takeBastion,
    takeLoadBalancer,
    takeFloatingIps,
    waitForServices,
    takeRouters,
    takePorts,
    takeGroups,
    // The last, for it says whose the others are.
    takeNetworks,
  ];
  for (const stage of stages) {
    const result = stage(context);
    if (result.wait !== undefined || (result.steps?.length ?? 0) > 0) return result;
  }
  return { steps: [{ for: "NetworkReady", type: "remove-finalizer", account: deletionAccount(context) }] };
}

function waitForMachines({ machines }: ClusterContext): Stage {
  if (machines.length === 0) return {};
  const names = machines.map((m) => m.metadata.name).sort();
  return {
    wait: `${names.length} machines to be deleted first: ${shortList(names, 5)}`,
    reason: "WaitingForMachines",
  };
}

function takeBastion({ bastion }: ClusterContext): Stage {
  if (!bastion) return {};
  const { name, deletionTimestamp } = bastion.metadata;
  if (deletionTimestamp === undefined) return { steps: [{ for: "BastionReady", type: "delete-bastion", name }] };
  const why = bastion.status?.conditions?.find((c) => c.type === "InstanceReady")?.message;
  return { wait: `OpenStackServer ${name} of the bastion to be deleted${why ? `: ${why}` : ""}` };
}

function takeLoadBalancer(context: ClusterContext): Stage {
  const mark = { ...ownMark(context), name: loadBalancerName(context.crn) };
  const ours = context.cloud.loadBalancing.loadBalancers.filter(
    (lb) => isOwned(lb, mark) && lb.provisioning_status !== "DELETED",
  );
  const steps = ours
    .filter((lb) => !lb.provisioning_status.startsWith("PENDING_"))
    .map((lb): ClusterStep => ({ for: "APIEndpointReady", type: "delete-load-balancer", id: lb.id, name: lb.name }));
  if (steps.length > 0) return { steps };
  return ours.length > 0
    ? { wait: `load balancer ${ours[0]?.name} to be deleted; it is ${ours[0]?.provisioning_status}` }
    : {};
}

/** Ours are those with our description; a floating IP from the spec has its owner's. */
function takeFloatingIps(context: ClusterContext): Stage {
  const mark = ownMark(context);
  const { apiServer, bastion } = context.object.spec;
  const given = [apiServer?.floatingIP, bastion?.floatingIP];
  const ours = context.cloud.floatingIps.filter(
    (ip) => !given.includes(ip.floating_ip_address) && isOwnedAddress(ip, mark),
  );
  return {
    steps: ours.map((ip) => ({
      for: "APIEndpointReady",
      type: "delete-floating-ip",
      id: ip.id,
      address: ip.floating_ip_address,
    })),
  };
}

/** Load balancers of Services are deleted by their controller; our subnets remain while they are in use. */
function waitForServices(context: ClusterContext): Stage {
  const subnets = ownSubnets(context);
  const others = context.cloud.loadBalancing.loadBalancers.filter(
    (lb) => lb.provisioning_status !== "DELETED" && subnets.has(lb.vip_subnet_id),
  );
  if (others.length === 0) return {};
  const names = others.map((lb) => `${lb.name} (${lb.id})`).sort();
  return {
    wait: `Load balancers are still on the cluster's subnet: ${shortList(names, 5)}. Delete their Services, or delete the load balancers`,
    blocked: true,
  };
}

function takeRouters(context: ClusterContext): Stage {
  const routes = routesToMachines(context);
  if (routes.length > 0) return { steps: routes };
  const subnets = ownSubnets(context);
  const interfaces = context.cloud.ports
    .filter((p) => isRouterInterface(p.device_owner) && p.fixed_ips.some((ip) => subnets.has(ip.subnet_id)))
    .flatMap((p): ClusterStep[] => {
      const subnetId = p.fixed_ips.find((ip) => subnets.has(ip.subnet_id))?.subnet_id;
      return subnetId === undefined
        ? []
        : [{ for: "RouterReady", type: "remove-router-interface", routerId: p.device_id, subnetId, portId: p.id }];
    });
  const routers = ownRouters(context).map((r): ClusterStep => ({
    for: "RouterReady",
    type: "delete-router",
    id: r.id,
    name: r.name,
  }));
  return { steps: [...interfaces, ...routers] };
}

/**
 * Routes to pods by way of machines, which a cloud controller added: Neutron keeps an interface that a route needs, and
 * the machines are gone.
 */
function routesToMachines(context: ClusterContext): readonly ClusterStep[] {
  const own = ownSubnets(context);
  const cidrs = context.cloud.subnets.flatMap(({ id, cidr }) => (own.has(id) ? (parseCidr(cidr) ?? []) : []));
  return context.cloud.routers.flatMap((router): readonly ClusterStep[] => {
    const routes = router.routes.filter(({ nexthop }) => {
      const ip = parseIp(nexthop);
      return ip !== undefined && cidrs.some((cidr) => cidrContains(cidr, ip));
    });
    const hasInterface = (): boolean =>
      portsOnDevice(context.cloud, router.id).some((p) => p.fixed_ips.some(({ subnet_id }) => own.has(subnet_id)));
    return routes.length > 0 && hasInterface()
      ? [{ for: "RouterReady", type: "remove-routes", id: router.id, routes }]
      : [];
  });
}

function ownRouters(context: ClusterContext): readonly Router[] {
  const given = context.object.spec.router;
  const kept = given && resolveParameter(given, context.cloud.routers, "spec.router");
  const mark = { ...ownMark(context), name: networkName(context.crn) };
  return ofName(context.cloud, "routers", mark.name).filter(
    (r) => isOwned(r, mark) && !(kept?.ok && kept.resource.id === r.id),
  );
}

/** Ports that a machine left behind are ours to delete; those of others are named, and waited for. */
function takePorts(context: ClusterContext): Stage {
  const networks = new Set(networksOf(context).map((n) => n.id));
  const ports = context.cloud.ports.filter((p) => networks.has(p.network_id) && !goesWithNetwork(p));
  const left = ports.filter((p) => p.description === description(context.crn) && p.device_id === "");
  if (left.length > 0) {
    return { steps: left.map((p) => ({ for: "NetworkReady", type: "delete-port", id: p.id, name: p.name })) };
  }
  if (ports.length === 0) return {};
  const others = ports.filter((p) => !isVipPort(p));
  // Octavia deletes these itself, a moment after their load balancer: an operator who deletes one breaks it.
  if (others.length === 0) {
    return { wait: `Octavia to remove the ports of deleted load balancers: ${listed(ports)}`, refresh: ["ports"] };
  }
  const names = others.map((p) => `${p.name || p.id} (${p.device_owner || "no owner"})`).sort();
  return {
    wait: `Ports that are not the cluster's are on its network: ${shortList(names, 8)}. Delete them to let the network be deleted`,
    blocked: true,
    refresh: ["ports"],
  };
}

/** A port that Octavia keeps for a load balancer's virtual IP, by the names that its providers give. */
function isVipPort({ name }: Port): boolean {
  return name.startsWith("ovn-lb-vip-") || name.startsWith("octavia-lb-");
}

function listed(ports: readonly Port[]): string {
  return shortList(ports.map((p) => `${p.name} (${p.id})`).sort(), 8);
}

/** Neutron takes these away with the network. */
function goesWithNetwork(port: Port): boolean {
  return (
    ["network:dhcp", "network:distributed"].includes(port.device_owner) ||
    port.device_owner.startsWith("network:floatingip")
  );
}

function takeNetworks(context: ClusterContext): Stage {
  return {
    steps: networksOf(context).map((n) => ({ for: "NetworkReady", type: "delete-network", id: n.id, name: n.name })),
  };
}

function takeGroups(context: ClusterContext): Stage {
  const steps: ClusterStep[] = [];
  for (const role of [...nodeRoles, "bastion"] as const) {
    const result = findGroup(context, role);
    const ids = result.kind === "one" ? [result.resource.id] : result.kind === "several" ? result.ids : [];
    for (const id of ids) {
      const name = context.cloud.securityGroups.find((g) => g.id === id)?.name ?? id;
      steps.push({ for: "SecurityGroupsReady", type: "delete-security-group", id, name });
    }
  }
  const users = context.cloud.ports.filter((p) =>
    steps.some((s) => s.type === "delete-security-group" && p.security_groups.includes(s.id)),
  );
  if (users.length === 0) return { steps };
  const names = users.map((p) => p.name || p.id).sort();
  return {
    wait: `Ports still use the cluster's security groups: ${shortList(names, 8)}`,
    blocked: true,
    refresh: ["ports"],
  };
}

function networksOf(context: ClusterContext): readonly Network[] {
  const recordedId = context.object.status?.network?.id;
  const { cloud, crn } = context;
  return ownNetworks(cloud, { ...ownMark(context), crn, name: networkName(crn), recordedId });
}

function ownSubnets(context: ClusterContext): ReadonlySet<string> {
  const networks = new Set(networksOf(context).map((n) => n.id));
  return new Set(context.cloud.subnets.filter((s) => networks.has(s.network_id)).map((s) => s.id));
}

function ownMark({ cloud, crn }: ClusterContext) {
  return { description: description(crn), projectId: cloud.projectId };
}
