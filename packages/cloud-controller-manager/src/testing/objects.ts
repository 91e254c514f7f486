import type { Node, Service, ServicePort } from "@causeway/kubernetes";
import type { Network, Server, Subnet } from "@causeway/openstack";

/** Objects for tables: whole where a planner reads them, and otherwise as small as they may be. */

export function aNode(
  name: string,
  changes: { address?: string; labels?: Record<string, string>; taints?: string[] } = {},
): Node {
  const { address = "10.0.0.1", labels = {}, taints = [] } = changes;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: `uid-${name}`, resourceVersion: "1", labels },
    spec: { providerID: `openstack:///${name}`, taints: taints.map((key) => ({ key, effect: "NoSchedule" })) },
    status: { addresses: address === "" ? [] : [{ type: "InternalIP", address }] },
  };
}

export const tcp80: ServicePort = { name: "http", port: 80, protocol: "TCP", nodePort: 30080 };
export const udp53: ServicePort = { name: "dns", port: 53, protocol: "UDP", nodePort: 30053 };

export function aService(
  spec: Service["spec"] = {},
  annotations: Record<string, string> = {},
  metadata: Partial<Service["metadata"]> = {},
): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default", uid: "0b0c-1", resourceVersion: "1", annotations, ...metadata },
    spec: { type: "LoadBalancer", ipFamilies: ["IPv4"], ports: [tcp80], ...spec },
    status: { loadBalancer: {} },
  };
}

export function aServer(name: string, changes: Partial<Server> = {}): Server {
  return {
    id: name,
    name,
    status: "ACTIVE",
    tenant_id: "p",
    user_id: "u",
    created: "",
    updated: "",
    hostId: "",
    addresses: { lan: [{ addr: "10.0.0.1", version: 4, "OS-EXT-IPS:type": "fixed" }] },
    metadata: {},
    key_name: null,
    flavor: { original_name: "m1.small" },
    image: "",
    "OS-EXT-AZ:availability_zone": "nova",
    ...changes,
  };
}

export function aSubnet(id: string, changes: Partial<Subnet> = {}): Subnet {
  return {
    id,
    name: id,
    description: "",
    project_id: "p",
    network_id: "net",
    ip_version: 4,
    cidr: "10.0.0.0/24",
    gateway_ip: null,
    enable_dhcp: true,
    dns_nameservers: [],
    allocation_pools: [],
    host_routes: [],
    tags: [],
    ...changes,
  };
}

export function aNetwork(id: string): Network {
  return {
    id,
    name: id,
    description: "",
    project_id: "p",
    status: "ACTIVE",
    admin_state_up: true,
    mtu: 1500,
    shared: false,
    "router:external": true,
    subnets: [],
    tags: [],
  };
}
