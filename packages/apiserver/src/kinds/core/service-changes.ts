import { array, record, records, same, text, texts, type Json } from "../../json/json.ts";

/** True where the ports of a Service get node ports by themselves. */
export function hasNodePorts(spec: Json): boolean {
  if (spec["type"] === "NodePort") return true;
  return spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false;
}

/** True where load balancers ask a port of its own whether a node has what they need. */
export function hasHealthPort(spec: Json): boolean {
  return spec["type"] === "LoadBalancer" && spec["externalTrafficPolicy"] === "Local";
}

/** True for what can be reached from outside of the cluster. */
export function isExternal(spec: Json): boolean {
  const { type } = spec;
  if (type === "LoadBalancer" || type === "NodePort") return true;
  return type === "ClusterIP" && array(spec["externalIPs"]).length > 0;
}

const isAddressed = (spec: Json): boolean => spec["type"] !== "ExternalName";

/** Gives an update what the Service holds already and its writer did not say. */
export function keepAllocated(spec: Json, was: Json): void {
  if (isAddressed(was) && isAddressed(spec)) {
    if (!text(spec["clusterIP"]) && was["clusterIP"] !== undefined) spec["clusterIP"] = was["clusterIP"];
    if (texts(spec["clusterIPs"]).length === 0 && was["clusterIPs"] !== undefined) {
      spec["clusterIPs"] = was["clusterIPs"];
    }
  }
  if (hasNodePorts(was) && hasNodePorts(spec)) keepPorts(records(spec["ports"]), records(was["ports"]));
  if (hasHealthPort(was) && hasHealthPort(spec) && was["healthCheckNodePort"] !== undefined) {
    spec["healthCheckNodePort"] ??= was["healthCheckNodePort"];
  }
}

/** Ports are the same when their names are. */
function keepPorts(ports: readonly Json[], before: readonly Json[]): void {
  const used = new Set(ports.map((p) => p["nodePort"]).filter(Boolean));
  const byName = new Map(before.map((p) => [text(p["name"]), p["nodePort"]]));
  for (const port of ports) {
    const known = byName.get(text(port["name"]));
    if (!port["nodePort"] && known && !(used.has(known) && before.some((p) => p["nodePort"] === known))) {
      port["nodePort"] = known;
    }
  }
}

/** Keeps the first address and the list of addresses alike: who changes the one means the other too. */
export function settleAddresses(spec: Json, was: Json | undefined): void {
  const ip = text(spec["clusterIP"]);
  const isEmpty = texts(spec["clusterIPs"]).length === 0;
  if (!was) {
    if (ip && isEmpty) spec["clusterIPs"] = [ip];
    return;
  }
  if (text(was["clusterIP"]) === ip || !same(texts(spec["clusterIPs"]), texts(was["clusterIPs"]))) return;
  if (ip) spec["clusterIPs"] = [ip];
  else delete spec["clusterIPs"];
}

/** Takes away what a Service of the new type has no use for, unless the writer changed it. */
export function dropOutgrown(spec: Json, was: Json): void {
  if (isAddressed(was) && !isAddressed(spec)) {
    if (isSame(["clusterIP", "clusterIPs"], spec, was)) drop(spec, "clusterIP", "clusterIPs");
    for (const name of ["ipFamilies", "ipFamilyPolicy"]) if (isSame([name], spec, was)) drop(spec, name);
  }
  dropPorts(spec, was);
  if (hasHealthPort(was) && !hasHealthPort(spec)) dropSame("healthCheckNodePort", spec, was);
  if (was["type"] === "LoadBalancer" && spec["type"] !== "LoadBalancer") {
    for (const name of ["allocateLoadBalancerNodePorts", "loadBalancerClass"]) dropSame(name, spec, was);
  }
  if (isExternal(was) && !isExternal(spec)) dropSame("externalTrafficPolicy", spec, was);
}

const WITH_PORTS: ReadonlySet<unknown> = new Set(["NodePort", "LoadBalancer"]);

function dropPorts(spec: Json, was: Json): void {
  if (!WITH_PORTS.has(was["type"]) || WITH_PORTS.has(spec["type"])) return;
  const before = new Set(records(was["ports"]).map((p) => p["nodePort"]));
  const ports = records(spec["ports"]);
  if (ports.some((p) => p["nodePort"] && !before.has(p["nodePort"]))) return;
  for (const port of ports) delete port["nodePort"];
}

function isSame(names: readonly string[], spec: Json, was: Json): boolean {
  return names.every((name) => same(spec[name] ?? null, was[name] ?? null));
}

function dropSame(name: string, spec: Json, was: Json): void {
  if (isSame([name], spec, was)) drop(spec, name);
}

function drop(spec: Json, ...names: readonly string[]): void {
  for (const name of names) delete record(spec)[name];
}
