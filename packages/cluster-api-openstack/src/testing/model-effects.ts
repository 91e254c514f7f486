import type * as OpenStack from "@causeway/openstack";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";
import type { ModelCloud } from "./model-cloud.ts";
import { lb, member, own, port, rule, server } from "./model-resources.ts";

/** What each step does to a cloud; steps that are not here change nothing that a planner reads. */
type Effects<Step extends { do: string }> = {
  readonly [D in Step["do"]]?: (cloud: ModelCloud, step: Extract<Step, { do: D }>) => void;
};

export const clusterEffects: Effects<ClusterStep> = {
  "create-network": (cloud, { body }) => {
    cloud.networks.push({
      ...own,
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
      ...own,
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
      ...own,
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
        fixed_ips: [{ subnet_id: subnetId, ip_address: "10.6.0.1" }],
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
    cloud.securityGroups.push({ ...own, id, description: "", ...body, security_group_rules: egress });
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
  "replace-members": (cloud, { poolId, members }) => {
    cloud.members.set(
      poolId,
      members.map((m) => member(cloud, m)),
    );
  },
  "delete-load-balancer": (cloud, { id }) => {
    cloud.loadBalancers = cloud.loadBalancers.filter((l) => l.id !== id);
    cloud.listeners = [];
    cloud.pools = [];
    cloud.ports = cloud.ports.filter((p) => p.device_owner !== "Octavia");
    cloud.floatingIps = cloud.floatingIps.map((ip) => ({ ...ip, port_id: null }));
  },
  "create-floating-ip": (cloud, { body }) => {
    const address = `172.24.4.${10 + cloud.floatingIps.length}`;
    cloud.floatingIps.push({
      ...own,
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

export const machineEffects: Effects<MachineStep> = {
  "create-port": (cloud, { body }) => {
    cloud.ports.push(port(cloud, body as Partial<OpenStack.Port>));
  },
  "set-port-tags": (cloud, { id, tags }) => tag(cloud, id, tags),
  "update-port": (cloud, { id, pairs }) => {
    cloud.ports = cloud.ports.map((p) => (p.id === id ? { ...p, allowed_address_pairs: pairs } : p));
  },
  "create-trunk": (cloud, { body }) => {
    const trunk_details = { trunk_id: cloud.id("trunk"), sub_ports: [] };
    cloud.ports = cloud.ports.map((p) => (p.id === body.port_id ? { ...p, trunk_details } : p));
  },
  "delete-trunk": (cloud, { portId }) => {
    cloud.ports = cloud.ports.map(({ trunk_details, ...p }) =>
      p.id === portId || !trunk_details ? p : { ...p, trunk_details },
    );
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
    cloud.servers.push(server(id, body));
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

function createLoadBalancer(cloud: ModelCloud, { body }: Extract<ClusterStep, { do: "create-load-balancer" }>): void {
  const id = cloud.id("lb");
  const network = cloud.subnets.find((s) => s.id === body.vip_subnet_id)?.network_id ?? "";
  const vip = port(cloud, {
    network_id: network,
    device_owner: "Octavia",
    device_id: `lb-${id}`,
    fixed_ips: [{ subnet_id: body.vip_subnet_id ?? "", ip_address: "10.6.0.5" }],
  });
  cloud.ports.push(vip);
  const listeners = (body.listeners ?? []).map((listener): OpenStack.Listener => {
    const poolId = cloud.id("pool");
    const wanted = listener.default_pool;
    cloud.pools.push({
      ...lb,
      id: poolId,
      name: wanted?.name ?? "",
      description: "",
      protocol: "TCP",
      lb_algorithm: "ROUND_ROBIN",
      session_persistence: null,
      healthmonitor_id: null,
      loadbalancers: [{ id }],
      listeners: [],
      members: [],
    });
    cloud.members.set(
      poolId,
      (wanted?.members ?? []).map((m) => member(cloud, m)),
    );
    return {
      ...lb,
      id: cloud.id("listener"),
      name: listener.name ?? "",
      description: "",
      protocol: "TCP",
      protocol_port: listener.protocol_port,
      connection_limit: -1,
      default_pool_id: poolId,
      loadbalancers: [{ id }],
      allowed_cidrs: listener.allowed_cidrs ?? null,
    };
  });
  cloud.listeners.push(...listeners);
  cloud.loadBalancers.push({
    ...lb,
    id,
    name: body.name,
    description: body.description ?? "",
    vip_address: "10.6.0.5",
    vip_port_id: vip.id,
    vip_subnet_id: body.vip_subnet_id ?? "",
    vip_network_id: network,
    provider: "amphora",
    listeners: listeners.map((l) => ({ id: l.id })),
    pools: [],
    tags: body.tags ?? [],
  });
}

function tag(cloud: ModelCloud, id: string, tags: string[]): void {
  const set = <T extends { id: string; tags: string[] }>(list: T[]) =>
    list.map((r) => (r.id === id ? { ...r, tags } : r));
  cloud.networks = set(cloud.networks);
  cloud.subnets = set(cloud.subnets);
  cloud.routers = set(cloud.routers);
  cloud.ports = set(cloud.ports);
  cloud.securityGroups = set(cloud.securityGroups);
  cloud.floatingIps = set(cloud.floatingIps);
}
