import { treeAfter, treeOfCreate, type ObservedTree } from "@causeway/octavia-tree";
import type * as OpenStack from "@causeway/openstack";
import { observedTree } from "../openstackcluster/endpoint-tree.ts";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";
import type { DryRunCloud } from "./cloud.ts";
import { addressIn, floatingAddress, own, port, rule, server } from "./resources.ts";

/** What each step does to a cloud; steps that are not here change nothing that a planner reads. */
type Effects<Step extends { type: string }> = {
  readonly [D in Step["type"]]?: (cloud: DryRunCloud, step: Extract<Step, { type: D }>) => void;
};

/** The effects of an OpenStackCluster's steps: new resources are ready at once, with IDs that are made up. */
export const clusterEffects: Effects<ClusterStep> = {
  "create-network": (cloud, { body }) => {
    cloud.networks.push({
      ...own(cloud),
      id: cloud.id("net"),
      status: "ACTIVE",
      mtu: 1442,
      shared: false,
      "router:external": false,
      subnets: [],
      description: "",
      ...body,
    });
  },
  "create-subnet": (cloud, { body }) => {
    cloud.subnets.push({
      ...own(cloud),
      id: cloud.id("sub"),
      gateway_ip: null,
      enable_dhcp: true,
      dns_nameservers: [],
      allocation_pools: [],
      host_routes: [],
      description: "",
      cidr: "",
      ...body,
    });
  },
  "update-subnet": (cloud, { id, dnsNameservers }) => {
    cloud.subnets = cloud.subnets.map((s) => (s.id === id ? { ...s, dns_nameservers: dnsNameservers } : s));
  },
  "create-router": (cloud, { body }) => {
    cloud.routers.push({
      ...own(cloud),
      id: cloud.id("rtr"),
      status: "ACTIVE",
      routes: [],
      external_gateway_info: null,
      description: "",
      ...body,
    });
  },
  "update-router": (cloud, { id, gateway }) => {
    cloud.routers = cloud.routers.map((r) => (r.id === id ? { ...r, external_gateway_info: gateway } : r));
  },
  "add-router-interface": (cloud, { routerId, subnetId }) => {
    const network_id = cloud.subnets.find((s) => s.id === subnetId)?.network_id ?? "";
    cloud.ports.push(
      port(cloud, {
        network_id,
        device_id: routerId,
        device_owner: "network:router_interface",
        fixed_ips: [{ subnet_id: subnetId, ip_address: addressIn(cloud, subnetId, 1) }],
      }),
    );
  },
  "remove-router-interface": (cloud, { portId }) => {
    cloud.ports = cloud.ports.filter((p) => p.id !== portId);
  },
  "remove-routes": (cloud, { id, routes }) => {
    const gone = new Set(routes.map(({ destination, nexthop }) => `${destination} ${nexthop}`));
    cloud.routers = cloud.routers.map((r) =>
      r.id === id ? { ...r, routes: r.routes.filter((x) => !gone.has(`${x.destination} ${x.nexthop}`)) } : r,
    );
  },
  "set-tags": (cloud, { id, tags }) => tag(cloud, id, tags),
  "create-security-group": (cloud, { body }) => {
    const id = cloud.id("sg");
    const egress = (["IPv4", "IPv6"] as const).map((ethertype) =>
      rule(cloud, { security_group_id: id, direction: "egress", ethertype }),
    );
    cloud.securityGroups.push({ ...own(cloud), id, description: "", ...body, security_group_rules: egress });
  },
  "create-rules": (cloud, { rules }) => {
    cloud.securityGroups = cloud.securityGroups.map((g) => ({
      ...g,
      security_group_rules: [
        ...g.security_group_rules,
        ...rules.filter((r) => r.security_group_id === g.id).map((r) => rule(cloud, r)),
      ],
    }));
  },
  "delete-rule": (cloud, { id }) => {
    cloud.securityGroups = cloud.securityGroups.map((g) => ({
      ...g,
      security_group_rules: g.security_group_rules.filter((r) => r.id !== id),
    }));
  },
  "delete-security-group": (cloud, { id }) => {
    cloud.securityGroups = cloud.securityGroups.filter((g) => g.id !== id);
  },
  "create-load-balancer": createLoadBalancer,
  "change-load-balancer": (cloud, { loadBalancerId, change }) => {
    const lb = cloud.loadBalancers.find((l) => l.id === loadBalancerId);
    if (lb) setTree(cloud, treeAfter(observedTree(cloud, lb), change));
  },
  "delete-load-balancer": (cloud, { id }) => {
    const gone = cloud.loadBalancers.find((l) => l.id === id);
    const isOf = ({ loadbalancers }: { loadbalancers: readonly { id: string }[] }) =>
      loadbalancers.some((l) => l.id === id);
    cloud.loadBalancers = cloud.loadBalancers.filter((l) => l.id !== id);
    cloud.listeners = cloud.listeners.filter((l) => !isOf(l));
    cloud.pools = cloud.pools.filter((p) => !isOf(p));
    cloud.ports = cloud.ports.filter((p) => p.id !== gone?.vip_port_id);
    cloud.floatingIps = cloud.floatingIps.map((ip) =>
      ip.port_id === gone?.vip_port_id ? { ...ip, port_id: null } : ip,
    );
  },
  "create-floating-ip": (cloud, { body }) => {
    const address = floatingAddress(cloud, body.floating_network_id);
    cloud.floatingIps.push({
      ...own(cloud),
      id: cloud.id("fip"),
      floating_ip_address: address,
      fixed_ip_address: null,
      router_id: null,
      status: "ACTIVE",
      port_id: null,
      description: "",
      ...body,
    });
  },
  "associate-floating-ip": (cloud, { id, portId }) => {
    cloud.floatingIps = cloud.floatingIps.map((ip) => (ip.id === id ? { ...ip, port_id: portId } : ip));
  },
  "delete-floating-ip": (cloud, { id }) => {
    cloud.floatingIps = cloud.floatingIps.filter((ip) => ip.id !== id);
  },
  "delete-router": (cloud, { id }) => {
    cloud.routers = cloud.routers.filter((r) => r.id !== id);
  },
  "delete-port": (cloud, { id }) => {
    cloud.ports = cloud.ports.filter((p) => p.id !== id);
  },
  "delete-network": (cloud, { id }) => {
    cloud.networks = cloud.networks.filter((n) => n.id !== id);
    cloud.subnets = cloud.subnets.filter((s) => s.network_id !== id);
    cloud.ports = cloud.ports.filter((p) => p.network_id !== id);
  },
};

/** The effects of the steps of an OpenStackMachine or OpenStackServer: new servers are ACTIVE at once. */
export const machineEffects: Effects<MachineStep> = {
  "create-port": (cloud, { body }) => {
    const wanted = (body.fixed_ips ?? [{}]) as readonly { subnet_id?: string; ip_address?: string }[];
    const first = cloud.subnets.find((subnet) => subnet.network_id === body.network_id)?.id ?? "";
    const fixed_ips = wanted.map(({ subnet_id = first, ip_address }) => ({
      subnet_id,
      ip_address: ip_address ?? addressIn(cloud, subnet_id, 10 + cloud.ports.length),
    }));
    cloud.ports.push(port(cloud, { ...(body as Partial<OpenStack.Port>), fixed_ips }));
  },
  "set-port-tags": (cloud, { id, tags }) => tag(cloud, id, tags),
  "update-port": (cloud, { id, pairs, groups }) => {
    const change = {
      ...(pairs ? { allowed_address_pairs: pairs } : {}),
      ...(groups ? { security_groups: groups } : {}),
    };
    cloud.ports = cloud.ports.map((p) => (p.id === id ? { ...p, ...change } : p));
  },
  "add-subports": (cloud, { id, subports }) => {
    cloud.ports = onTrunk(cloud, id, (present) => [...present, ...subports]);
  },
  "remove-subports": (cloud, { id, ports }) => {
    cloud.ports = onTrunk(cloud, id, (present) => present.filter(({ port_id }) => !ports.includes(port_id)));
  },
  "attach-port": (cloud, { serverId, portId }) => {
    cloud.ports = cloud.ports.map((p) =>
      p.id === portId ? { ...p, device_id: serverId, device_owner: "compute:nova", status: "ACTIVE" } : p,
    );
    cloud.servers = cloud.servers.map((s) =>
      s.id === serverId ? { ...s, addresses: addressesOf(cloud, serverId) } : s,
    );
  },
  "set-server-tags": (cloud, { id, tags }) => {
    cloud.servers = cloud.servers.map((s) => (s.id === id ? { ...s, tags } : s));
  },
  "set-server-metadata": (cloud, { id, set, remove }) => {
    cloud.servers = cloud.servers.map((s) => {
      if (s.id !== id) return s;
      const kept = Object.entries(s.metadata).filter(([key]) => !remove.includes(key));
      return { ...s, metadata: { ...Object.fromEntries(kept), ...set } };
    });
  },
  "create-trunk": (cloud, { body }) => {
    const trunk_details = { trunk_id: cloud.id("trunk"), sub_ports: body.sub_ports ?? [] };
    cloud.ports = cloud.ports.map((p) => (p.id === body.port_id ? { ...p, trunk_details } : p));
  },
  "delete-trunk": (cloud, { portId }) => {
    cloud.ports = cloud.ports.map(({ trunk_details, ...p }) =>
      p.id === portId || !trunk_details ? p : { ...p, trunk_details },
    );
  },
  "associate-floating-ip": (cloud, { id, portId }) => {
    cloud.floatingIps = cloud.floatingIps.map((ip) => (ip.id === id ? { ...ip, port_id: portId } : ip));
  },
  "create-volume": (cloud, { body }) => {
    cloud.volumes.push({
      id: cloud.id("vol"),
      status: "available",
      volume_type: "",
      availability_zone: "nova",
      bootable: "true",
      attachments: [],
      metadata: {},
      description: "",
      ...body,
    });
  },
  "create-server": (cloud, { body }) => {
    const id = cloud.id("srv");
    const held = Array.isArray(body.networks) ? body.networks.map((n) => n.port) : [];
    cloud.ports = cloud.ports.map((p) =>
      held.includes(p.id) ? { ...p, device_id: id, device_owner: "compute:nova", status: "ACTIVE" } : p,
    );
    cloud.servers.push({ ...server(id, body), tenant_id: cloud.projectId, addresses: addressesOf(cloud, id) });
  },
  "delete-server": (cloud, { id }) => {
    cloud.servers = cloud.servers.filter((s) => s.id !== id);
    cloud.ports = cloud.ports.map((p) => (p.device_id === id ? { ...p, device_id: "", device_owner: "" } : p));
  },
  "delete-port": (cloud, { id }) => {
    cloud.ports = cloud.ports.filter((p) => p.id !== id);
  },
  "delete-volume": (cloud, { id }) => {
    cloud.volumes = cloud.volumes.filter((v) => v.id !== id);
  },
};

type SubPorts = NonNullable<OpenStack.Port["trunk_details"]>["sub_ports"];

function onTrunk(cloud: DryRunCloud, id: string, change: (present: SubPorts) => SubPorts): OpenStack.Port[] {
  return cloud.ports.map((port) => {
    const trunk = port.trunk_details;
    return trunk?.trunk_id === id ? { ...port, trunk_details: { ...trunk, sub_ports: change(trunk.sub_ports) } } : port;
  });
}

function createLoadBalancer(
  cloud: DryRunCloud,
  { body }: Extract<ClusterStep, { type: "create-load-balancer" }>,
): void {
  const id = cloud.id("lb");
  const network = cloud.subnets.find((s) => s.id === body.vip_subnet_id)?.network_id ?? body.vip_network_id ?? "";
  const address = body.vip_address ?? addressIn(cloud, body.vip_subnet_id, 5);
  const vip = port(cloud, {
    network_id: network,
    device_owner: "Octavia",
    device_id: `lb-${id}`,
    fixed_ips: [{ subnet_id: body.vip_subnet_id ?? "", ip_address: address }],
  });
  cloud.ports.push(vip);
  const chosen = {
    id,
    vip_address: address,
    vip_port_id: vip.id,
    vip_network_id: network,
    provider: body.provider ?? "amphora",
  };
  const tree = treeOfCreate(body, { ...chosen, project_id: cloud.projectId, vip_subnet_id: body.vip_subnet_id ?? "" });
  setTree(cloud, tree);
}

/** Puts a load balancer with what is below it into the lists, in place of what they had of it. */
function setTree(cloud: DryRunCloud, { lb, listeners, pools }: ObservedTree): void {
  const isOther = ({ loadbalancers }: { readonly loadbalancers: readonly { readonly id: string }[] }): boolean =>
    !loadbalancers.some(({ id }) => id === lb.id);
  const ids = (parts: readonly { readonly id: string }[]) => parts.map(({ id }) => ({ id }));
  const changed = { ...lb, listeners: ids(listeners), pools: ids(pools.map(({ pool }) => pool)) };
  cloud.loadBalancers = [...cloud.loadBalancers.filter(({ id }) => id !== lb.id), changed];
  cloud.listeners = [...cloud.listeners.filter(isOther), ...listeners];
  cloud.pools = [...cloud.pools.filter(isOther), ...pools.map(({ pool }) => pool)];
  for (const { pool, members } of pools) cloud.members.set(pool.id, members);
}

/** Of a server's ports, by network; none of them: an address that says so little that no plan depends on it. */
function addressesOf(cloud: DryRunCloud, id: string): OpenStack.Server["addresses"] {
  const own = cloud.ports.filter((p) => p.device_id === id);
  const listed = own.map((p): [string, OpenStack.Server["addresses"][string]] => [
    cloud.networks.find((n) => n.id === p.network_id)?.name ?? "net",
    p.fixed_ips.map(({ ip_address }) => ({
      addr: ip_address,
      version: ip_address.includes(":") ? 6 : 4,
      "OS-EXT-IPS:type": "fixed",
    })),
  ]);
  return Object.fromEntries(listed);
}

function tag(cloud: DryRunCloud, id: string, tags: string[]): void {
  const set = <T extends { id: string; tags: string[] }>(list: T[]) =>
    list.map((r) => (r.id === id ? { ...r, tags } : r));
  cloud.networks = set(cloud.networks);
  cloud.subnets = set(cloud.subnets);
  cloud.routers = set(cloud.routers);
  cloud.ports = set(cloud.ports);
  cloud.securityGroups = set(cloud.securityGroups);
  cloud.floatingIps = set(cloud.floatingIps);
}
