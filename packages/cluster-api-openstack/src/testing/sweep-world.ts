import type { FloatingIp, LoadBalancer, Router, Volume } from "@causeway/openstack";
import { port, server } from "../dry-run/resources.ts";
import { description, loadBalancerName, networkName, securityGroupName, serverOwnerKey } from "../resources/naming.ts";
import type { ClusterOrphan, SweepObserved } from "../sweep/model.ts";
import { planClusterSweep } from "../sweep/plan.ts";
import { ModelCloud } from "./model-cloud.ts";
import { external, externalSubnet, projectId } from "./objects.ts";

/** The description of what the cluster default/web has. */
export const mark = description("default-web");
/** Its network. */
export const network = {
  ...external,
  id: "net",
  name: networkName("default-web"),
  description: mark,
  project_id: projectId,
};
/** A server with metadata. */
export const node = (id: string, name: string, metadata: Record<string, string> = {}) => server(id, { name, metadata });

/** As upstream makes them, without a mark of ours. */
export const volume = (id: string, name: string, text: string, servers: readonly string[] = []): Volume =>
  ({
    id,
    name,
    description: text,
    metadata: {},
    attachments: servers.map((server_id) => ({ server_id })),
  }) as unknown as Volume;

/** What is in the project; `running`: servers that run are deleted, too. */
export type Content = Partial<Omit<SweepObserved, "living">> & { living?: string[]; running?: boolean };

/** The plan of a sweep. */
export function whole({ living = [], running = true, ...cloud }: Content): ClusterOrphan[] {
  const nothing = {
    projectId,
    networks: [],
    subnets: [],
    routers: [],
    ports: [],
    securityGroups: [],
    floatingIps: [],
    loadBalancers: [],
    servers: [],
    volumes: [],
  };
  return planClusterSweep({ ...nothing, ...cloud, living: new Set(living) }, { running });
}

/** The plan of a sweep in words. */
export function plan(content: Content): string[] {
  return whole(content).map(({ kind, id, kept }) => `${kind} ${id}${kept === undefined ? "" : " kept"}`);
}

const model = new ModelCloud();
/** A port on the network. */
export const on = (more: object) => ({ ...port(model, { network_id: "net", ...more }), id: "p" });

/** A route by way of a host on the subnet. */
export const inside = { destination: "10.244.0.0/24", nexthop: "10.6.0.9" };
/** Its router. */
export const router = {
  id: "rtr",
  name: networkName("default-web"),
  description: mark,
  project_id: projectId,
  status: "ACTIVE",
  admin_state_up: true,
  external_gateway_info: null,
  routes: [inside, { destination: "10.9.0.0/16", nexthop: "172.24.4.1" }, { destination: "10.8.0.0/16", nexthop: "x" }],
  tags: [],
} as unknown as Router;
/** Its floating IP. */
export const floatingIp = {
  id: "fip",
  description: mark,
  project_id: projectId,
  floating_ip_address: "172.24.4.9",
} as FloatingIp;
/** Its load balancer. */
export const balancer = {
  id: "lb",
  name: loadBalancerName("default-web"),
  description: mark,
  project_id: projectId,
  vip_port_id: "vip",
} as LoadBalancer;
/** Its security groups. */
export const groups = (["bastion", "worker", "controlplane"] as const).map((role) => ({
  id: role,
  name: securityGroupName("default-web", role),
  description: "Cluster API managed group",
  project_id: projectId,
  tags: [],
  security_group_rules: [],
}));
/** The port of its server. */
export const own = {
  ...on({ name: "web-a-0", device_id: "s", description: mark, security_groups: ["worker"] }),
  trunk_details: { trunk_id: "trunk", sub_ports: [{ port_id: "sub", segmentation_id: 1 }] },
};
/** The interface of a router on the network. */
export const interfaceOf = (id: string) => ({
  ...on({
    device_id: id,
    device_owner: "network:router_interface",
    fixed_ips: [{ subnet_id: "sub", ip_address: "10.6.0.1" }],
  }),
  id: "interface",
});

/** Its volume, attached to servers. */
export const attached = (...servers: string[]): Volume => ({
  ...volume("v", "web-a-root", "", servers),
  metadata: { [serverOwnerKey]: "default/web" },
});

/** Everything of one cluster, and what Neutron and Octavia have made for it. */
export const estate = {
  networks: [network],
  subnets: [
    {
      ...externalSubnet,
      id: "sub",
      network_id: "net",
      cidr: "10.6.0.0/24",
      project_id: projectId,
      name: network.name,
      description: mark,
    },
    { ...externalSubnet, id: "sub-public", cidr: "172.24.4.0/24" },
  ],
  routers: [router],
  ports: [
    own,
    interfaceOf("rtr"),
    { ...on({ device_id: "x", device_owner: "network:dhcp" }), id: "dhcp" },
    { ...on({ device_id: "x", device_owner: "network:distributed" }), id: "metadata" },
    { ...on({ device_id: "x", device_owner: "network:floatingip_agent_gateway" }), id: "agent" },
    { ...on({ device_id: "lb-lb", device_owner: "Octavia" }), id: "vip" },
  ],
  securityGroups: groups,
  floatingIps: [floatingIp],
  loadBalancers: [balancer],
  servers: [node("s", "web-a", { [serverOwnerKey]: "default/web" })],
  volumes: [attached("s")],
} satisfies Content;
