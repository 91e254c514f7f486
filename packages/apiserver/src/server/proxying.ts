import type { KubeObject } from "@causeway/kubernetes";
import { BlockList, isIP } from "node:net";
import type { Cluster } from "../contract/cluster.ts";
import { at, array, records, text } from "../json/json.ts";
import { lazily } from "../lazily.ts";
import type { RequestInfo } from "../contract/request-info.ts";
import { apiError, badRequest, noSuchResource, notFound } from "../errors/status.ts";

const KINDS: Readonly<Record<string, string>> = { nodes: "node", pods: "pod", services: "service" };
const SCHEMES = new Set(["", "http", "https"]);
/** In kube-apiserver's order of preference. */
const NODE_ADDRESSES = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

/**
 * Addresses that nothing is forwarded to: those of this machine, of one link, of groups. Made when it is first used,
 * since the snapshot that `causeway apiserver` starts from cannot hold a BlockList.
 */
const refused = lazily(() => {
  const list = new BlockList();
  for (const [network, prefix, family] of [
    ["0.0.0.0", 32, "ipv4"],
    ["127.0.0.0", 8, "ipv4"],
    ["169.254.0.0", 16, "ipv4"],
    ["224.0.0.0", 4, "ipv4"],
    ["255.255.255.255", 32, "ipv4"],
    ["::", 128, "ipv6"],
    ["::1", 128, "ipv6"],
    ["fe80::", 10, "ipv6"],
    ["ff00::", 8, "ipv6"],
  ] as const) {
    list.addSubnet(network, prefix, family);
  }
  return list;
});

/** Whether a request is to be forwarded to a node, a pod or a Service. */
export function isProxied({ isResource, group, version, plural, name, subresource }: RequestInfo): boolean {
  return (
    isResource &&
    group === "" &&
    version === "v1" &&
    subresource === "proxy" &&
    Object.hasOwn(KINDS, plural) &&
    name !== ""
  );
}

/**
 * The answer to such a request: what kube-apiserver says of a target that is not there, has no address, or may not be
 * reached. This server forwards nothing: of all other targets it says that it cannot reach them.
 */
export function proxyRefusal(cluster: Cluster, info: RequestInfo): Error {
  const { plural, namespace, name } = info;
  if ((plural === "nodes") !== (namespace === "")) return noSuchResource();
  const target = targetOf(name);
  if (!target) return badRequest(`invalid ${KINDS[plural]} request ${JSON.stringify(name)}`);
  const found = (kind: string, of: string, within = namespace): KubeObject | undefined =>
    cluster.store.get({ cluster: cluster.name, resource: `/${kind}`, namespace: within, name: of })?.object;
  if (plural === "services") return serviceRefusal(found, info, target);
  const object = found(plural, target.name);
  if (!object) return notFound({ group: "", plural }, target.name);
  return plural === "nodes" ? nodeRefusal(object) : podRefusal(object);
}

interface Target {
  readonly name: string;
  readonly port: string;
}

/** NAME, NAME:PORT or SCHEME:NAME:PORT. */
function targetOf(id: string): Target | undefined {
  const parts = id.split(":");
  if (parts.length > 3) return undefined;
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  return name !== "" && SCHEMES.has(scheme) ? { name, port } : undefined;
}

function nodeRefusal(node: KubeObject): Error {
  const addresses = records(at(node, "status", "addresses"));
  const preferred = NODE_ADDRESSES.map((type) => addresses.find((a) => a["type"] === type)).find((a) => a);
  if (preferred) return addressRefusal(text(preferred["address"]));
  const known = addresses.map((a) => `{${text(a["type"])} ${text(a["address"])}}`).join(" ");
  return apiError(500, "", `no preferred addresses found; known addresses: [${known}]`);
}

function podRefusal(pod: KubeObject): Error {
  const [first] = records(at(pod, "status", "podIPs"));
  return addressRefusal(text(first?.["ip"]) || text(at(pod, "status", "podIP")) || "none");
}

type Find = (kind: string, name: string, namespace?: string) => KubeObject | undefined;

function serviceRefusal(find: Find, { name: id, namespace }: RequestInfo, { name, port }: Target): Error {
  let portName = port;
  if (/^[+-]?\d+$/.test(port)) {
    const service = find("services", name);
    if (!service) return notFound({ group: "", plural: "services" }, name);
    const chosen = records(at(service, "spec", "ports")).find((p) => p["port"] === Number(port));
    if (!chosen) return unavailable(`no service port ${Number(port)} found for service "${name}"`);
    portName = text(chosen["name"]);
  }
  const endpoints = find("endpoints", name);
  if (!endpoints) return notFound({ group: "", plural: "services" }, name);
  const subsets = records(at(endpoints, "subsets"));
  if (subsets.length === 0) return unavailable(`no endpoints available for service "${name}"`);
  const isServed = subsets.some(
    (subset) =>
      records(subset["ports"]).some((p) => text(p["name"]) === portName) &&
      records(subset["addresses"]).some((address) => isOfPod(find, address, namespace)),
  );
  return isServed ? unreachable() : unavailable(`no endpoints available for service ${JSON.stringify(id)}`);
}

/** Endpoints may be written by users: nothing is forwarded to an address that is no pod's. */
function isOfPod(find: Find, address: Readonly<Record<string, unknown>>, namespace: string): boolean {
  const reference = address["targetRef"];
  if (text(at(reference, "kind")) !== "Pod" || text(at(reference, "namespace")) !== namespace) return false;
  const pod = find("pods", text(at(reference, "name")));
  return array(at(pod, "status", "podIPs")).some((ip) => at(ip, "ip") === address["ip"]);
}

/** A name is not looked up: who may write a node could have this server ask for any. */
function addressRefusal(address: string): Error {
  const family = isIP(address);
  if (family === 0 && address !== "none") return unreachable();
  if (family === 0 || refused().check(address, family === 6 ? "ipv6" : "ipv4"))
    return badRequest("address not allowed");
  return unreachable();
}

function unreachable(): Error {
  return unavailable(
    "error trying to reach service: this server does not forward requests to nodes, pods and services",
  );
}

function unavailable(message: string): Error {
  return apiError(503, "ServiceUnavailable", message);
}
