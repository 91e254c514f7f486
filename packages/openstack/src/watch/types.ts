import type * as N from "../types/network.ts";
import type * as C from "../types/compute.ts";
import type * as L from "../types/load-balancing.ts";
import type { Volume } from "../types/block-storage.ts";
import type { Image } from "../types/image.ts";
import type { Transition } from "./durations.ts";
import type { WatchedType } from "./informer.ts";
import type { Indexes } from "./store.ts";

/** How long (ms) a port that belongs to a device may be DOWN and still be thought to come up. */
const PORT_COMES_UP = 60_000;

const tagged = { tag: (object: { tags?: readonly string[] }) => object.tags ?? [] };
const named = { name: (object: { name: string }) => [object.name] };
const owned = { project: (object: { project_id: string }) => [object.project_id] };

/** Networks, also those of other projects that are shared or external. */
export const networks = still<N.Network>("networks", { ...named, ...tagged, ...owned });

/** Subnets, found by their network, too. */
export const subnets = still<N.Subnet>("subnets", {
  ...named,
  ...tagged,
  ...owned,
  network: (subnet) => [subnet.network_id],
});

/** Routers. */
export const routers = still<N.Router>("routers", { ...named, ...tagged });

/** Security groups; their rules are in them. */
export const securityGroups = still<N.SecurityGroup>("security groups", { ...named, ...tagged });

/** Floating IPs, found by address, port and external network. They have no name. */
export const floatingIps = still<N.FloatingIp>("floating IPs", {
  ...tagged,
  address: (ip) => [ip.floating_ip_address],
  port: (ip) => (ip.port_id === null ? [] : [ip.port_id]),
  network: (ip) => [ip.floating_network_id],
});

/** Ports. One on a server may be DOWN for a minute and still come up. */
export const ports: WatchedType<N.Port> = {
  ...still<N.Port>("ports", {
    ...named,
    ...tagged,
    network: (port) => [port.network_id],
    device: (port) => (port.device_id === "" ? [] : [port.device_id]),
    subnet: (port) => [...new Set(port.fixed_ips.map((ip) => ip.subnet_id))],
    address: (port) => port.fixed_ips.map((ip) => ip.ip_address),
  }),
  inTransition: (port, unchanged) =>
    port.status === "BUILD" || (port.status === "DOWN" && isOnServer(port) && unchanged < PORT_COMES_UP),
};

/** Servers. One with a task is in transition. */
export const servers: WatchedType<C.Server> = {
  ...still<C.Server>("servers", { ...named, ...tagged }),
  inTransition: (server) => server.status === "BUILD" || (server["OS-EXT-STS:task_state"] ?? null) !== null,
  deleting: (server) =>
    server["OS-EXT-STS:task_state"] === "deleting" || ["DELETED", "SOFT_DELETED"].includes(server.status),
};

/** Server groups. Their members are the servers' ids. */
export const serverGroups = still<C.ServerGroup>("server groups", { ...named });
/** Flavors. They hardly ever change: by default they are polled every five minutes. */
export const flavors: WatchedType<C.Flavor> = { ...still<C.Flavor>("flavors", { ...named }), hardlyChanges: true };
/** Images that the project may use. They hardly ever change, but one that is saved is in transition. */
export const images: WatchedType<Image> = {
  ...still<Image>("images", { ...named, ...tagged }),
  inTransition: (image) => ["queued", "saving", "importing"].includes(image.status),
  hardlyChanges: true,
};

const VOLUME_SETTLED = new Set(["available", "in-use", "error", "maintenance"]);
/** Milliseconds. Nova reserves a volume a moment before it attaches it; one that remains reserved is another user's. */
const RESERVED = 60_000;
/** Volumes. Lists of what has changed lately replace whole lists where the service has them. */
export const volumes: WatchedType<Volume> = {
  ...still<Volume>("volumes", {
    ...named,
    server: (volume) => volume.attachments.map((a) => a.server_id),
  }),
  inTransition: ({ status }, unchanged) =>
    status === "reserved" ? unchanged < RESERVED : !VOLUME_SETTLED.has(status) && !status.startsWith("error"),
  transition: ({ status }) => ({ kind: status === "reserved" ? "attaching" : status, size: 1 }),
  deleting: (volume) => volume.status === "deleting",
  changes: {
    changedAt: (volume) => volume.updated_at ?? volume.created_at,
    // A second attachment is no change of the volume itself in every release.
    needsAll: ({ status, multiattach }) => status === "deleting" || multiattach === true,
  },
};

/** Load balancers, found by the address, port and subnet of their VIP. */
export const loadBalancers: WatchedType<L.LoadBalancer> = {
  ...provisioned<L.LoadBalancer>("load balancers", {
    ...named,
    ...tagged,
    address: (lb) => [lb.vip_address],
    port: (lb) => [lb.vip_port_id],
    subnet: (lb) => [lb.vip_subnet_id],
  }),
  transition: transitionOf,
};
/** OVN's provider works on each part of a create: a small one says little about a large one. */
function transitionOf({ provider, provisioning_status: status, pools }: L.LoadBalancer): Transition {
  const grows = provider === "ovn" && status === "PENDING_CREATE";
  return { kind: `${provider} ${status}`, family: provider, size: grows ? Math.max(1, (pools ?? []).length) : 1 };
}

/** Listeners, found by their load balancer. */
export const listeners = partOfLoadBalancer<L.Listener>("listeners");
/** Octavia stamps a pool with each change of its members and its monitor (seen with amphora and OVN of Zed). */
export const pools: WatchedType<L.Pool> = { ...partOfLoadBalancer<L.Pool>("pools"), marksCount: true };

function ofLoadBalancer(part: { loadbalancers: readonly { id: string }[] }): string[] {
  return part.loadbalancers.map((lb) => lb.id);
}

/** It settles with its load balancer, whose list says when: only then is its own list requested. */
function partOfLoadBalancer<T extends L.Listener | L.Pool>(name: string): WatchedType<T> {
  const indexes = { ...named, ...tagged, loadbalancer: ofLoadBalancer };
  return { ...provisioned<T>(name, indexes), settlesWithAnother: true };
}

/** Nova's ports come up by themselves; a router's or load balancer's may remain DOWN for good. */
function isOnServer(port: N.Port): boolean {
  return port.device_id !== "" && port.device_owner.startsWith("compute:");
}

/** A type whose objects do not change by themselves, and are gone when their delete was successful. */
function still<T>(name: string, indexes: Indexes<T>): WatchedType<T> {
  return { name, indexes, inTransition: () => false, deleting: () => false, hardlyChanges: false };
}

function provisioned<T extends { provisioning_status: L.ProvisioningStatus }>(
  name: string,
  indexes: Indexes<T>,
): WatchedType<T> {
  return {
    ...still(name, indexes),
    inTransition: (object) => object.provisioning_status.startsWith("PENDING_"),
    deleting: ({ provisioning_status: status }) => status === "PENDING_DELETE" || status === "DELETED",
  };
}
