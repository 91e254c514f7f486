import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { at, fields, record, text } from "../json/json.ts";
import { Allocations, familyOf } from "../kinds/core/addresses.ts";
import { networksOf } from "../kinds/networking/service-range.ts";
import { claims } from "../kinds/core/service.ts";
import { internalCall } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import { remove } from "../registry/delete.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { deadlines } from "./deadlines.ts";
import { warn } from "./events.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

const GROUP = "networking.k8s.io";
const MANAGED_BY = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" };
const FROM_ADDRESSES = "ipallocator-repair-controller";
const FROM_PORTS = "portallocator-repair-controller";
/** How long an address may exist for a Service that is not there: one may be on its way. */
const LEAK = 60_000;

/**
 * Keeps an IPAddress for every address that a Service has, and none that has leaked. Those of a Service are written in
 * the turn in which the Service is, before its writer gets the response. It reports each repair in an Event, in
 * kube-apiserver's words: an address whose IPAddress was lost or is another's, addresses and node ports that two
 * Services have, or that are of no network or range.
 */
export function serviceRanges(cluster: Cluster): Controller {
  const services = builtIn(cluster, "", "services");
  const addresses = builtIn(cluster, GROUP, "ipaddresses");
  const loop = startLoop({
    name: "ipallocator-repair-controller",
    cluster,
    async reconcile(key) {
      await Promise.all(underWay);
      await (key === "" ? repair(cluster) : repairAddress(cluster, key, (at) => timer.set(key, at)));
    },
  });
  // What is being written is nothing to repair.
  const underWay = new Set<Promise<void>>();
  const begin = (ip: string, writing: Promise<void>): void => {
    const ended = writing.catch(() => loop.add(ip)).then(() => void underWay.delete(ended));
    underWay.add(ended);
  };
  const timer = deadlines(cluster.clock, (key) => loop.add(key));
  return {
    saw({ type, resource, object, previous }) {
      if (resource === services) {
        const now = type === "DELETED" ? new Set<string>() : claims(fields(object)).addresses;
        const before = previous ? claims(fields(previous)).addresses : new Set<string>();
        for (const ip of now) if (!before.has(ip)) begin(ip, keep(cluster, object, ip));
        for (const ip of before) if (!now.has(ip)) begin(ip, drop(cluster, object, ip));
      }
      if (resource === addresses) {
        timer.set(object.metadata.name, undefined);
        if (type !== "ADDED" || isManaged(object)) loop.add(object.metadata.name);
      }
    },
    resume: () => loop.add(""),
    stop() {
      timer.stop();
      return loop.stop();
    },
  };
}

function isManaged({ metadata }: KubeObject): boolean {
  return metadata.labels?.["ipaddress.kubernetes.io/managed-by"] === "ipallocator.k8s.io";
}

function find(cluster: Cluster, resource: string, name: string, namespace = ""): KubeObject | undefined {
  return cluster.store.get({ cluster: cluster.name, resource, namespace, name })?.object;
}

function addressCall(cluster: Cluster, name = "") {
  return { ...internalCall(cluster, builtIn(cluster, GROUP, "ipaddresses"), { name }), fieldManager: "kube-apiserver" };
}

/** An IPAddress for an address of a Service. */
async function keep(cluster: Cluster, { metadata }: KubeObject, ip: string): Promise<void> {
  const parentRef = { resource: "services", namespace: metadata.namespace, name: metadata.name };
  const body = {
    apiVersion: `${GROUP}/v1`,
    kind: "IPAddress",
    metadata: { name: ip, labels: { "ipaddress.kubernetes.io/ip-family": familyOf(ip), ...MANAGED_BY } },
    spec: { parentRef },
  };
  await create(addressCall(cluster), body).catch((error: unknown) => {
    if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
  });
}

/** Takes an IPAddress away that represents this Service. */
async function drop(cluster: Cluster, service: KubeObject, ip: string): Promise<void> {
  const found = find(cluster, `${GROUP}/ipaddresses`, ip);
  if (found && isOf(found, service)) await remove(addressCall(cluster, ip)).catch(ignoreMissing);
}

function isOf(address: KubeObject, { metadata }: KubeObject): boolean {
  const parent = parentOf(address);
  return parent.isService && parent.namespace === metadata.namespace && parent.name === metadata.name;
}

function parentOf(address: KubeObject): { isService: boolean; namespace: string; name: string } {
  const parent = record(at(address, "spec", "parentRef"));
  const isService = !text(parent["group"]) && parent["resource"] === "services";
  return { isService, namespace: text(parent["namespace"]), name: text(parent["name"]) };
}

function emitEvent(cluster: Cluster, service: KubeObject, reason: string, message: string): void {
  warn(cluster, service, { reason, action: "ClusterIPAllocation", message, from: FROM_ADDRESSES });
}

/** One address: of a Service that lost its object, or an object that represents nothing. */
async function repairAddress(cluster: Cluster, ip: string, checkAgain: (at: number) => void): Promise<void> {
  const holder = holderOf(cluster, ip);
  const found = find(cluster, `${GROUP}/ipaddresses`, ip);
  if (holder) return repairHeld(cluster, { service: holder, ip, found });
  if (!found || !isManaged(found)) return;
  const parent = parentOf(found);
  const cleanUp = (message: string, reason = "IPAddressNotAllocated"): Promise<void> => {
    warn(cluster, found, { reason, action: "IPAddressAllocation", message, from: FROM_ADDRESSES });
    return remove(addressCall(cluster, ip)).then(() => {}, ignoreMissing);
  };
  const who = `${parent.namespace}/${parent.name}`;
  if (!parent.isService)
    return cleanUp(`IPAddress ${ip} appears to have been modified, not referencing a Service: cleaning up`);
  if (find(cluster, "/services", parent.name, parent.namespace)) {
    return cleanUp(`IPAddress: ${ip} for Service ${who} has a wrong reference; cleaning up`, "IPAddressWrongReference");
  }
  const due = Date.parse(found.metadata.creationTimestamp ?? "") + LEAK;
  if (cluster.clock.now() < due) return checkAgain(due);
  return cleanUp(`IPAddress: ${ip} for Service ${who} appears to have leaked: cleaning up`);
}

function holderOf(cluster: Cluster, ip: string): KubeObject | undefined {
  const services = cluster.store.list({ cluster: cluster.name, resource: "/services" }).items;
  return services.map((s) => s.object).find((s) => claims(fields(s)).addresses.has(ip));
}

async function repairHeld(
  cluster: Cluster,
  { service, ip, found }: { service: KubeObject; ip: string; found: KubeObject | undefined },
): Promise<void> {
  const { namespace = "", name } = service.metadata;
  const family = familyOf(ip);
  if (found && isOf(found, service) && isManaged(found)) return;
  if (!found) {
    emitEvent(cluster, service, "ClusterIPNotAllocated", `Cluster IP [${family}]: ${ip} is not allocated; repairing`);
    return keep(cluster, service, ip);
  }
  const message = `the ClusterIP [${family}]: ${ip} for Service ${namespace}/${name} has a wrong reference; repairing`;
  emitEvent(cluster, service, "ClusterIPNotAllocated", message);
  await remove(addressCall(cluster, ip)).catch(ignoreMissing);
  return keep(cluster, service, ip);
}

/** Everything, as after a start: what happened while the server was down, or was done to its file. */
async function repair(cluster: Cluster): Promise<void> {
  const list = (resource: string) => cluster.store.list({ cluster: cluster.name, resource }).items.map((i) => i.object);
  const services = list("/services");
  const networks = networksOf(cluster);
  const held = new Allocations();
  for (const service of services) {
    const who = `${service.metadata.namespace ?? ""}/${service.metadata.name}`;
    const { addresses, ports } = claims(fields(service));
    for (const ip of addresses) {
      const family = familyOf(ip);
      if (!networks.some((n) => n.has(ip))) {
        const message = `Cluster IP [${family}]: ${ip} is not within any configured Service CIDR; please recreate service`;
        emitEvent(cluster, service, "ClusterIPOutOfRange", message);
      } else if (held.holder(ip)) {
        const message = `Cluster IP [${family}]:${ip} was assigned to multiple services; please recreate service`;
        emitEvent(cluster, service, "ClusterIPAlreadyAllocated", message);
      } else {
        held.takeAddress(ip, who);
        await repairHeld(cluster, { service, ip, found: find(cluster, `${GROUP}/ipaddresses`, ip) });
      }
    }
    repairPorts(cluster, { service, ports, held, who });
  }
  for (const { metadata } of list(`${GROUP}/ipaddresses`)) {
    if (!held.holder(metadata.name)) await repairAddress(cluster, metadata.name, () => {});
  }
}

function repairPorts(
  cluster: Cluster,
  { service, ports, held, who }: { service: KubeObject; ports: ReadonlySet<number>; held: Allocations; who: string },
): void {
  const problem = (reason: string, message: string): void =>
    warn(cluster, service, { reason, action: "PortAllocation", message, from: FROM_PORTS });
  for (const port of ports) {
    if (!Allocations.isNodePort(port)) {
      const message = `Port ${port} is not within the port range 30000-32767; please recreate service`;
      problem("PortOutOfRange", message);
    } else if (held.portHolder(port)) {
      problem("PortAlreadyAllocated", `Port ${port} was assigned to multiple services; please recreate service`);
    } else held.takePort(port, who);
  }
}
