import type { KubeObject } from "@causeway/kubernetes";
import { canonicalIp } from "@causeway/foundation";
import { apiError, invalid } from "../../errors/status.ts";
import { at, fields, record, records, text, texts, type Json } from "../../json/json.ts";
import { invalidValue } from "../../errors/problems.ts";
import { Allocations } from "./addresses.ts";
import { IP_ADDRESSES, networksOf } from "../networking/service-range.ts";
import { hasNodePorts } from "./service-changes.ts";
import type { ClusterView, Draft } from "../../contract/resource.ts";

const TYPE = { group: "", kind: "Service" } as const;

/** "namespace/name" of who holds addresses and ports. */
export function ownerOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

/** What the stored Services of a cluster hold. */
export function repaired(cluster: ClusterView): Allocations {
  const made = new Allocations();
  for (const { object } of cluster.store.list({ cluster: cluster.name, resource: "/services" }).items) {
    const { addresses, ports } = claims(fields(object));
    for (const address of addresses) made.takeAddress(address, ownerOf(object));
    for (const port of ports) made.takePort(port, ownerOf(object));
  }
  return made;
}

/** The addresses and node ports that a Service has. */
export function claims(service: Json): { addresses: Set<string>; ports: Set<number> } {
  const spec = record(service["spec"]);
  const ips = spec["clusterIPs"] === undefined ? [text(spec["clusterIP"])] : texts(spec["clusterIPs"]);
  const ports = records(spec["ports"]).map((p) => p["nodePort"]);
  const health = spec["healthCheckNodePort"];
  return {
    addresses: new Set(ips.map((ip) => canonicalIp(ip)).filter((ip) => ip !== undefined)),
    ports: new Set([...ports, health].filter((p) => typeof p === "number" && p > 0) as number[]),
  };
}

/** Where addresses come from. */
interface Ranges {
  readonly free: Allocations;
  /** The first free address of a family. */
  readonly next: (family: string) => string | undefined;
  /** True for an address of a network that services may have. */
  readonly has: (address: string) => boolean;
  /** True for an address that an IPAddress of another object holds. */
  readonly isTaken: (address: string, owner: string) => boolean;
}

/** The networks of a cluster's ServiceCIDRs, and which of their addresses are free. */
export function rangesOf(cluster: ClusterView, free: Allocations): Ranges {
  const networks = networksOf(cluster);
  const isTaken = (address: string, owner: string): boolean => {
    const key = { cluster: cluster.name, resource: IP_ADDRESSES, namespace: "", name: address };
    const parent = record(at(cluster.store.get(key)?.object, "spec", "parentRef"));
    const holder = parent["resource"] === "services" ? `${text(parent["namespace"])}/${text(parent["name"])}` : "";
    return parent["resource"] !== undefined && holder !== owner;
  };
  return {
    free,
    next: (family) => {
      for (const network of networks) {
        const found = network.family === family ? free.freeAddress(network, (a) => isTaken(a, "")) : undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    },
    has: (address) => networks.some((n) => n.has(address)),
    isTaken,
  };
}

/** Gives a service the addresses and ports it needs; fails with 422 when a chosen one is in use. */
export function allocate(ranges: Ranges, draft: Draft, old: KubeObject | undefined): () => void {
  const { free } = ranges;
  const owner = ownerOf(draft);
  const before = old ? claims(fields(old)) : { addresses: new Set<string>(), ports: new Set<number>() };
  const undo = (): void => free.release(owner, before);
  try {
    if (!staysBare(draft, old)) allocateAddresses(ranges, draft, owner);
    allocatePorts(free, draft, { owner, shares: old === undefined });
  } catch (error) {
    undo();
    throw error;
  }
  return undo;
}

/** Who was made through its status has no address, and no update but one of another type gives it one. */
function staysBare(draft: Draft, old: KubeObject | undefined): boolean {
  if (!old || at(old, "spec", "type") === "ExternalName") return false;
  return [draft, old].every((object) => texts(at(object, "spec", "clusterIPs")).length === 0);
}

function allocateAddresses(ranges: Ranges, draft: Draft, owner: string): void {
  const spec = record(draft["spec"]);
  const wanted = texts(spec["clusterIPs"]);
  if (spec["type"] === "ExternalName" || wanted[0] === "None") return;
  const problem = (why: string): Error =>
    invalid(TYPE, draft.metadata.name, [invalidValue("spec.clusterIPs", wanted.length > 0 ? wanted : null, why)]);
  const given = texts(spec["ipFamilies"]).map((family, i) => {
    const chosen = wanted[i];
    if (chosen === undefined) return newAddress(ranges, family, owner);
    takeAddress(ranges, { address: canonicalIp(chosen) ?? chosen, owner, problem });
    return chosen;
  });
  Object.assign(spec, { clusterIP: given[0], clusterIPs: given });
}

function newAddress({ free, next }: Ranges, family: string, owner: string): string {
  const address = next(family);
  if (!address)
    throw apiError(500, "InternalError", "Internal error occurred: failed to allocate a serviceIP: range is full");
  free.takeAddress(address, owner);
  return address;
}

function takeAddress(
  { free, has, isTaken }: Ranges,
  { address, owner, problem }: { address: string; owner: string; problem: (why: string) => Error },
): void {
  const holder = free.holder(address);
  if (holder === owner) return;
  const failed = `failed to allocate IP ${address}`;
  if (!has(address)) throw problem(`${failed}: the provided network does not match the current range`);
  if (holder || isTaken(address, owner)) throw problem(`${failed}: provided IP is already allocated`);
  free.takeAddress(address, owner);
}

function allocatePorts(free: Allocations, draft: Draft, { owner, shares }: { owner: string; shares: boolean }): void {
  const spec = record(draft["spec"]);
  const { type } = spec;
  if (type !== "NodePort" && type !== "LoadBalancer") return;
  const automatic = hasNodePorts(spec);
  const byNumber = new Map<string, number>();
  records(spec["ports"]).forEach((port, i) => {
    const wanted = port["nodePort"];
    // At creation the same number serves TCP and UDP of one service.
    const shared = shares ? byNumber.get(String(port["port"])) : undefined;
    if (typeof wanted === "number" && wanted > 0)
      takePort(free, { draft, owner, port: wanted, field: `spec.ports[${i}].nodePort` });
    else if (automatic) port["nodePort"] = shared ?? newPort(free, owner);
    if (typeof port["nodePort"] === "number") byNumber.set(String(port["port"]), port["nodePort"]);
  });
  if (type !== "LoadBalancer" || spec["externalTrafficPolicy"] !== "Local") return;
  const health = spec["healthCheckNodePort"];
  if (typeof health === "number" && health > 0)
    takePort(free, { draft, owner, port: health, field: "spec.healthCheckNodePort" });
  else spec["healthCheckNodePort"] = newPort(free, owner);
}

function newPort(free: Allocations, owner: string): number {
  const port = free.freePort();
  if (port === undefined)
    throw apiError(500, "InternalError", "Internal error occurred: failed to allocate a nodePort: range is full");
  free.takePort(port, owner);
  return port;
}

function takePort(free: Allocations, claim: { draft: Draft; owner: string; port: number; field: string }): void {
  const { draft, owner, port, field } = claim;
  const holder = free.portHolder(port);
  if (holder === owner) return;
  const problem = (why: string): Error => invalid(TYPE, draft.metadata.name, [invalidValue(field, port, why)]);
  if (!Allocations.isNodePort(port))
    throw problem("provided port is not in the valid range. The range of valid ports is 30000-32767");
  if (holder) throw problem("provided port is already allocated");
  free.takePort(port, owner);
}
