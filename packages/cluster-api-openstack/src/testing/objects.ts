import type { OpenStackCluster, OpenStackClusterSpec, OpenStackMachine, OpenStackMachineSpec } from "@causeway/api";
import type { Flavor, Image, Network, Subnet } from "@causeway/openstack";
import { clusterFinalizer, machineFinalizer } from "../resources/naming.ts";

/** Objects for tests, with what every one of them needs. */

export const now = Date.UTC(2026, 10, 21);
export const projectId = "project-1";
export const identity = "RegionOne/project-1";

export function openStackCluster(spec: Partial<OpenStackClusterSpec> = {}, metadata: object = {}): OpenStackCluster {
  return {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: {
      name: "demo",
      namespace: "default",
      uid: "uid-osc",
      generation: 1,
      finalizers: [clusterFinalizer],
      ...metadata,
    },
    spec: { identityRef: { name: "demo-cloud-config", cloudName: "devcloud" }, ...spec },
  };
}

/** As the demo has it: managed network and groups, no endpoint of ours. */
export const demoSpec: Partial<OpenStackClusterSpec> = {
  managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }],
  managedSecurityGroups: {},
  apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
};

export function openStackMachine(spec: Partial<OpenStackMachineSpec> = {}, metadata: object = {}): OpenStackMachine {
  return {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackMachine",
    metadata: {
      name: "demo-workers-abcde",
      namespace: "default",
      uid: "uid-osm",
      generation: 1,
      finalizers: [machineFinalizer],
      labels: { "cluster.x-k8s.io/cluster-name": "demo" },
      ...metadata,
    },
    spec: { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "cirros" } }, ...spec },
  };
}

export const external: Network = {
  id: "net-public",
  name: "public",
  description: "",
  project_id: "admin",
  status: "ACTIVE",
  admin_state_up: true,
  mtu: 1500,
  shared: false,
  "router:external": true,
  subnets: [],
  tags: [],
};

export const externalSubnet: Subnet = {
  id: "sub-public",
  name: "public",
  description: "",
  project_id: "admin",
  network_id: "net-public",
  ip_version: 4,
  cidr: "172.24.4.0/24",
  gateway_ip: "172.24.4.1",
  enable_dhcp: false,
  dns_nameservers: [],
  allocation_pools: [],
  host_routes: [],
  tags: [],
};

export const flavors: readonly Flavor[] = [
  { id: "1", name: "m1.tiny", vcpus: 1, ram: 512, disk: 1 },
  { id: "2", name: "m1.small", vcpus: 1, ram: 2048, disk: 20 },
];

export const images: readonly Image[] = [
  { id: "img-1", name: "cirros", status: "active", visibility: "public", min_disk: 0, min_ram: 0, size: 1, tags: [] },
  {
    id: "img-2",
    name: "fedora-coreos",
    status: "active",
    visibility: "public",
    min_disk: 0,
    min_ram: 0,
    size: 1,
    tags: [],
  },
];
