import { isIP } from "node:net";
import { canonicalIp } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { apiError } from "../server/status.ts";
import { at, fields, record, records, same, text, texts, type Json } from "../json.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../server/problems.ts";
import { invalid, type FieldProblem } from "../server/status.ts";
import { subdomainFaults } from "../registry/metadata.ts";
import { Allocations, serviceNetworks, type Family } from "./addresses.ts";
import { familyProblems, settleFamilies } from "./service-families.ts";
import { IP_ADDRESSES, networksOf } from "./service-range.ts";
import type { ClusterView, Draft, Strategy } from "./resource.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const AFFINITIES = ["ClientIP", "None"];
const ADDRESSED = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
const TYPE = { group: "", kind: "Service" } as const;
const NAMED = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Services: defaults, rules, and the cluster addresses and node ports they hold. */
export function serviceStrategy(): Strategy {
  const held = new WeakMap<ClusterView, Allocations>();
  const allocations = (cluster: ClusterView): Allocations => {
    const known = held.get(cluster);
    if (known) return known;
    const made = repaired(cluster);
    held.set(cluster, made);
    return made;
  };
  return {
    prepareCreate(draft) {
      draft["status"] = { loadBalancer: {} };
    },
    prepareUpdate(draft, old, { subresource }) {
      const was = record(fields(old)["spec"]);
      if (subresource === "status") draft["spec"] = structuredClone(was);
      else keepAllocated(record(draft["spec"]), was);
      if (record(draft["spec"])["type"] !== "LoadBalancer" && !subresource) draft["status"] = { loadBalancer: {} };
    },
    fill(draft, { subresource }) {
      if (subresource === "status") fillIngress(draft);
      if (!subresource) fillService(draft);
    },
    validate(object, old, { subresource }) {
      return subresource ? [] : serviceProblems(record(fields(object)["spec"]), old && record(fields(old)["spec"]));
    },
    allocate(draft, old, { cluster, subresource }) {
      if (subresource) return () => {};
      return allocate(rangesOf(cluster, allocations(cluster)), draft, old);
    },
    written(object, cluster) {
      // What an update gave up is free only now that the write is done.
      held.get(cluster)?.release(ownerOf(object), claims(fields(object)));
    },
    released(object, cluster) {
      held.get(cluster)?.release(ownerOf(object), { addresses: new Set(), ports: new Set() });
    },
  };
}

function ownerOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

function repaired(cluster: ClusterView): Allocations {
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

function keepAddresses(spec: Json, was: Json): void {
  // Who changes the first address alone, in the older field, means the whole list.
  const isOlder = spec["clusterIP"] !== was["clusterIP"] && same(spec["clusterIPs"], was["clusterIPs"]);
  if (isOlder) spec["clusterIPs"] = text(spec["clusterIP"]) ? [spec["clusterIP"]] : [];
  if (!spec["clusterIP"] && was["type"] !== "ExternalName") {
    if (was["clusterIP"] !== undefined) spec["clusterIP"] = was["clusterIP"];
    if (was["clusterIPs"] !== undefined) spec["clusterIPs"] = was["clusterIPs"];
  }
}

/** What an update leaves out but the service holds already. */
function keepAllocated(spec: Json, was: Json): void {
  const type = text(spec["type"]) || "ClusterIP";
  if (type === "ExternalName") {
    for (const name of [...ADDRESSED, "internalTrafficPolicy"]) delete spec[name];
    return;
  }
  keepAddresses(spec, was);
  if (type === "ClusterIP") {
    for (const port of records(spec["ports"])) delete port["nodePort"];
    delete spec["healthCheckNodePort"];
    return;
  }
  const before = records(was["ports"]);
  for (const port of records(spec["ports"])) {
    const protocol = text(port["protocol"]) || "TCP";
    const found = before.find((p) => p["port"] === port["port"] && p["protocol"] === protocol);
    if (!port["nodePort"] && found?.["nodePort"]) port["nodePort"] = found["nodePort"];
  }
  const local = spec["externalTrafficPolicy"] === "Local" && type === "LoadBalancer";
  if (local && !spec["healthCheckNodePort"] && was["healthCheckNodePort"]) {
    spec["healthCheckNodePort"] = was["healthCheckNodePort"];
  }
  if (!local) delete spec["healthCheckNodePort"];
}

/** Addresses of a load balancer are virtual ones unless it says otherwise (KEP-1860). */
function fillIngress(draft: Draft): void {
  const ingress = at(draft["status"], "loadBalancer", "ingress");
  for (const point of records(ingress)) if (text(point["ip"])) point["ipMode"] ??= "VIP";
}

function fillService(draft: Draft): void {
  const spec = record(draft["spec"]);
  draft["spec"] = spec;
  const type = (spec["type"] ??= "ClusterIP");
  spec["sessionAffinity"] ??= "None";
  if (spec["sessionAffinity"] === "ClientIP")
    spec["sessionAffinityConfig"] ??= { clientIP: { timeoutSeconds: 10_800 } };
  records(spec["ports"]).forEach(fillPort);
  if (type !== "ExternalName") fillTraffic(spec, text(type));
}

function fillPort(port: Json): void {
  port["protocol"] ??= "TCP";
  const target = port["targetPort"];
  if (target === undefined || target === "" || target === 0) port["targetPort"] = port["port"];
}

function fillTraffic(spec: Json, type: string): void {
  spec["internalTrafficPolicy"] ??= "Cluster";
  if (type === "NodePort" || type === "LoadBalancer") spec["externalTrafficPolicy"] ??= "Cluster";
  else delete spec["externalTrafficPolicy"];
  if (type === "LoadBalancer") spec["allocateLoadBalancerNodePorts"] ??= true;
  else delete spec["allocateLoadBalancerNodePorts"];
  if (type !== "LoadBalancer") delete spec["loadBalancerClass"];
  const chosen = text(spec["clusterIP"]);
  if (chosen && texts(spec["clusterIPs"]).length === 0) spec["clusterIPs"] = [chosen];
}

function serviceProblems(spec: Json, was: Json | undefined): FieldProblem[] {
  const type = text(spec["type"]);
  const ports = records(spec["ports"]);
  const problems: FieldProblem[] = [];
  if (!TYPES.includes(type)) problems.push(notSupported("spec.type", type, TYPES));
  const affinity = text(spec["sessionAffinity"]);
  if (!AFFINITIES.includes(affinity)) {
    problems.push(notSupported("spec.sessionAffinity", affinity, AFFINITIES));
  }
  if (type === "ExternalName") {
    problems.push(...addressless(spec));
    const named = ports.flatMap((p, i) => portProblems(p, `spec.ports[${i}]`, ports.length > 1));
    return [...problems, ...aliasProblems(text(spec["externalName"])), ...rangeProblems(spec), ...named];
  }
  if (ports.length === 0 && spec["clusterIP"] !== "None") problems.push(required("spec.ports"));
  if (spec["clusterIP"] === "None" && (type === "NodePort" || type === "LoadBalancer")) {
    problems.push(invalidValue("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services"));
  }
  problems.push(...familyProblems(spec, (ip) => isIP(ip) !== 0), ...rangeProblems(spec));
  if (type === "ClusterIP") problems.push(...nodePortProblems(ports));
  problems.push(...ports.flatMap((p, i) => portProblems(p, `spec.ports[${i}]`, ports.length > 1)), ...repeated(ports));
  if (was) problems.push(...fixedProblems(spec, was));
  return problems;
}

/** A name that stands elsewhere has no addresses here. */
function addressless(spec: Json): FieldProblem[] {
  const has = (name: string): boolean =>
    name === "ipFamilyPolicy" ? Boolean(spec[name]) : texts(spec[name]).length > 0;
  return ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]
    .filter(has)
    .map((name) => forbiddenField(`spec.${name}`, "may not be set for ExternalName services"));
}

function aliasProblems(name: string): FieldProblem[] {
  if (name === "") return [required("spec.externalName")];
  return subdomainFaults(name).map((why) => invalidValue("spec.externalName", name, why));
}

/** The path is kube-apiserver's, though the field is spelt otherwise. */
function rangeProblems(spec: Json): FieldProblem[] {
  if (spec["type"] === "LoadBalancer") return [];
  const fields = {
    loadBalancerSourceRanges: "LoadBalancerSourceRanges",
    allocateLoadBalancerNodePorts: "allocateLoadBalancerNodePorts",
  };
  return Object.entries(fields)
    .filter(([name]) => spec[name] !== undefined)
    .map(([, shown]) => forbiddenField(`spec.${shown}`, "may only be used when `type` is 'LoadBalancer'"));
}

function nodePortProblems(ports: readonly Json[]): FieldProblem[] {
  const why = "may not be used when `type` is 'ClusterIP'";
  return ports.flatMap(({ nodePort }, i) =>
    typeof nodePort === "number" && nodePort > 0 ? [forbiddenField(`spec.ports[${i}].nodePort`, why)] : [],
  );
}

function fixedProblems(spec: Json, was: Json): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const ip = text(was["clusterIP"]);
  const now = text(spec["clusterIP"]);
  if (ip && was["type"] !== "ExternalName" && now !== ip) {
    problems.push(
      invalidValue("spec.clusterIPs[0]", now ? [now] : texts(spec["clusterIPs"]), "may not change once set"),
    );
  }
  const stays = was["type"] === "LoadBalancer" && spec["type"] === "LoadBalancer";
  if (stays && spec["loadBalancerClass"] !== was["loadBalancerClass"]) {
    problems.push(invalidValue("spec.loadBalancerClass", spec["loadBalancerClass"], "may not change once set"));
  }
  return problems;
}

function portProblems(port: Json, field: string, named: boolean): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const name = text(port["name"]);
  if (named && !name) problems.push(required(`${field}.name`));
  if (name && !NAMED.test(name)) {
    problems.push(
      invalidValue(
        `${field}.name`,
        name,
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ),
    );
  }
  for (const key of ["port", "targetPort"]) {
    const value = port[key];
    if (key === "targetPort" && typeof value === "string") continue;
    const right = typeof value === "number" && Number.isInteger(value) && value > 0 && value < 65_536;
    if (!right) problems.push(invalidValue(`${field}.${key}`, value, "must be between 1 and 65535, inclusive"));
  }
  if (!PROTOCOLS.includes(text(port["protocol"]))) {
    problems.push(notSupported(`${field}.protocol`, port["protocol"], PROTOCOLS));
  }
  return problems;
}

/** A port as kube-apiserver shows one that stands twice. */
function portShown({ port, protocol }: Json): Json {
  return { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}

function repeated(ports: readonly Json[]): FieldProblem[] {
  const seen = new Set<string>();
  return ports.flatMap((port, i) => {
    const keys = [
      `port ${String(port["port"])}/${text(port["protocol"])}`,
      ...(port["name"] ? [`name ${text(port["name"])}`] : []),
    ];
    const again = keys.filter((k) => seen.has(k));
    keys.forEach((k) => seen.add(k));
    const value = again[0]?.startsWith("name") ? port["name"] : portShown(port);
    const field = again[0]?.startsWith("name") ? `spec.ports[${i}].name` : `spec.ports[${i}]`;
    return again.length > 0
      ? [{ field, message: `Duplicate value: ${JSON.stringify(value)}`, reason: "FieldValueDuplicate" }]
      : [];
  });
}

/** Where addresses come from. */
interface Ranges {
  readonly free: Allocations;
  /** Families that the cluster has, its default first. */
  readonly families: readonly Family[];
  /** The first free address of a family. */
  readonly next: (family: string) => string | undefined;
  /** True for an address of a network that services may have. */
  readonly has: (address: string) => boolean;
  /** True for an address that an IPAddress of somebody else stands for. */
  readonly isTaken: (address: string, owner: string) => boolean;
}

function rangesOf(cluster: ClusterView, free: Allocations): Ranges {
  const networks = networksOf(cluster);
  const isTaken = (address: string, owner: string): boolean => {
    const key = { cluster: cluster.name, resource: IP_ADDRESSES, namespace: "", name: address };
    const parent = record(at(cluster.store.get(key)?.object, "spec", "parentRef"));
    const holder = parent["resource"] === "services" ? `${text(parent["namespace"])}/${text(parent["name"])}` : "";
    return parent["resource"] !== undefined && holder !== owner;
  };
  return {
    free,
    families: serviceNetworks(cluster.serviceCidr).map((n) => n.family),
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

/** Gives a service the addresses and ports it needs; fails with 422 when a chosen one is taken. */
function allocate(ranges: Ranges, draft: Draft, old: KubeObject | undefined): () => void {
  const { free } = ranges;
  const owner = ownerOf(draft);
  const before = old ? claims(fields(old)) : { addresses: new Set<string>(), ports: new Set<number>() };
  const undo = (): void => free.release(owner, before);
  const was = old && record(fields(old)["spec"]);
  const problems = settleFamilies(record(draft["spec"]), was, ranges.families);
  if (problems.length > 0) throw invalid(TYPE, draft.metadata.name, problems);
  try {
    allocateAddresses(ranges, draft, owner);
    allocatePorts(free, draft, owner);
  } catch (error) {
    undo();
    throw error;
  }
  return undo;
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

function allocatePorts(free: Allocations, draft: Draft, owner: string): void {
  const spec = record(draft["spec"]);
  const { type } = spec;
  if (type !== "NodePort" && type !== "LoadBalancer") return;
  const automatic = type === "NodePort" || spec["allocateLoadBalancerNodePorts"] !== false;
  const byNumber = new Map<string, number>();
  records(spec["ports"]).forEach((port, i) => {
    const wanted = port["nodePort"];
    // The same number may serve TCP and UDP of one service.
    const shared = byNumber.get(String(port["port"]));
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
