import { treeOfCreate } from "@causeway/octavia-tree";
import type { Node, Service } from "@causeway/kubernetes";
import type { FloatingIp, LoadBalancer, LoadBalancerCreate } from "@causeway/openstack";
import type { ObservedBalancer } from "../balancer/balancer.ts";
import type { IngressConfig } from "../config/config.ts";
import type { Owner } from "../names.ts";

export const CONFIG: IngressConfig = {
  clusterName: "c",
  manageSecurityGroups: false,
  balancer: {
    provider: undefined,
    subnetId: "subnet",
    floatingNetworkId: "public",
    flavorId: undefined,
    serial: false,
  },
};

/** Nothing in the cloud, and nothing to wait for. */
export function emptyBalancer(owner: Owner): ObservedBalancer {
  const held = { uncertain: undefined, busy: undefined, broken: undefined, braked: () => undefined };
  const none = { tree: undefined, floatingIp: undefined, named: undefined, group: undefined };
  return { owner, found: [], leaving: [], own: [], stored: [], held, ...none };
}

/** As the cloud has it once a create is done. */
export function balancerOf(owner: Owner, body: LoadBalancerCreate, more: Partial<LoadBalancer> = {}): ObservedBalancer {
  const tree = treeOfCreate(body);
  const lb = { ...tree.lb, id: "lb", vip_port_id: "port", vip_address: "10.0.0.5", ...more };
  const isActive = lb.provisioning_status === "ACTIVE";
  return { ...emptyBalancer(owner), found: [lb], tree: isActive ? { ...tree, lb } : undefined };
}

export function floatingIp(owner: Owner, more: Partial<FloatingIp> = {}): FloatingIp {
  return {
    id: "fip",
    description: owner.floatingIpDescription,
    project_id: "p",
    floating_network_id: "public",
    floating_ip_address: "203.0.113.5",
    fixed_ip_address: null,
    port_id: "port",
    router_id: null,
    status: "ACTIVE",
    tags: [],
    ...more,
  };
}

export function node(name: string, address: string): Node {
  const status = { addresses: [{ type: "InternalIP" as const, address }], conditions: [] };
  return { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {}, status };
}

export function service(name: string, nodePort: number): Service {
  const ports = [{ name: "http", port: 80, protocol: "TCP" as const, nodePort }];
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "n" }, spec: { type: "NodePort", ports } };
}
