import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, text, type Json } from "../../json/json.ts";
import type { Resource } from "../../contract/resource.ts";
import { podResources, type Resources } from "../builtin/pod-resources.ts";

/** Kinds whose number has a name of its own in addition to "count/…". */
const ALIASES: ReadonlySet<string> = new Set(["/configmaps", "/secrets", "/replicationcontrollers", "/resourcequotas"]);
const STORAGE_CLASS = ".storageclass.storage.k8s.io/";
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
/** Each container must ask for these where a quota counts them. */
const EXPLICIT = new Set(["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"]);

/** What one object uses of what quotas count. */
export function usageOf(resource: Resource, object: KubeObject): Resources {
  const counted = { [countName(resource)]: "1" };
  if (ALIASES.has(resource.storage)) return { ...counted, [resource.plural]: "1" };
  const spec = record(fields(object)["spec"]);
  switch (resource.storage) {
    case "/pods":
      return { ...counted, ...podUsage(spec, object) };
    case "/services":
      return { ...counted, ...serviceUsage(spec) };
    case "/persistentvolumeclaims":
      return { ...counted, ...claimUsage(spec, object) };
    default:
      return counted;
  }
}

/** Which of the names of a quota are about objects of this kind. */
export function namesFor(resource: Resource, names: readonly string[]): string[] {
  const own = new Set([countName(resource), ...namesOf(resource)]);
  return names.filter((name) => own.has(name) || isKindOf(resource, name));
}

/** What a pod does not say though a quota counts it, as kube-apiserver says it; "" when nothing is missing. */
export function unspecified(pod: KubeObject, names: readonly string[]): string {
  const spec = record(fields(pod)["spec"]);
  if (Object.keys(record(spec["resources"])).length > 0) return "";
  const wanted = names.filter((name) => EXPLICIT.has(name));
  const missing = new Map<string, Set<string>>();
  for (const container of [...records(spec["containers"]), ...records(spec["initContainers"])]) {
    const [requests, limits] = [
      record(at(container, "resources", "requests")),
      record(at(container, "resources", "limits")),
    ];
    const has = computeUsage(requests as Resources, limits as Resources);
    for (const name of wanted) {
      if (has[name] === undefined) missing.set(name, (missing.get(name) ?? new Set()).add(text(container["name"])));
    }
  }
  const parts = [...missing].sort(([a], [b]) => (a < b ? -1 : 1));
  return parts.map(([name, containers]) => `${name} for: ${[...containers].sort().join(",")}`).join("; ");
}

function countName({ plural, group }: Resource): string {
  return `count/${plural}${group ? `.${group}` : ""}`;
}

function namesOf({ storage, plural }: Resource): readonly string[] {
  if (ALIASES.has(storage)) return [plural];
  switch (storage) {
    case "/pods":
      return ["pods", ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])];
    case "/services":
      return ["services", "services.loadbalancers", "services.nodeports"];
    case "/persistentvolumeclaims":
      return ["persistentvolumeclaims", "requests.storage"];
    default:
      return [];
  }
}

function isKindOf({ storage }: Resource, name: string): boolean {
  if (storage === "/persistentvolumeclaims") return name.includes(STORAGE_CLASS);
  if (storage !== "/pods" || name.includes(STORAGE_CLASS)) return false;
  return name.startsWith("hugepages-") || name.startsWith("requests.hugepages-") || /^requests\..+\/.+$/.test(name);
}

/** Pods that have ended count as objects, and use nothing else. */
function podUsage(spec: Json, pod: KubeObject): Resources {
  const phase = at(pod, "status", "phase");
  if (phase === "Failed" || phase === "Succeeded") return {};
  return { pods: "1", ...computeUsage(podResources(spec, "requests"), podResources(spec, "limits")) };
}

function computeUsage(requests: Resources, limits: Resources): Resources {
  const used: Record<string, string> = {};
  for (const [name, quantity] of Object.entries(requests)) {
    const isPlain = COMPUTE.includes(name) || name.startsWith("hugepages-");
    if (isPlain) used[name] = quantity;
    if (isPlain || name.includes("/")) used[`requests.${name}`] = quantity;
  }
  for (const name of COMPUTE) if (limits[name] !== undefined) used[`limits.${name}`] = limits[name];
  return used;
}

function serviceUsage(spec: Json): Resources {
  const ports = records(spec["ports"]);
  const type = spec["type"];
  const balanced = type === "LoadBalancer";
  const allocates = spec["allocateLoadBalancerNodePorts"] !== false;
  const given = ports.filter((p) => Number(p["nodePort"] ?? 0) !== 0).length;
  const nodePorts = type === "NodePort" || (balanced && allocates) ? ports.length : balanced ? given : 0;
  return {
    services: "1",
    "services.loadbalancers": balanced ? "1" : "0",
    "services.nodeports": String(nodePorts),
  };
}

function claimUsage(spec: Json, claim: KubeObject): Resources {
  const storage = text(at(spec, "resources", "requests", "storage"));
  const className =
    claim.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? text(spec["storageClassName"]);
  const both: Resources = { persistentvolumeclaims: "1", ...(storage ? { "requests.storage": storage } : {}) };
  const ofClass = Object.entries(both).map(([name, value]) => [`${className}${STORAGE_CLASS}${name}`, value] as const);
  return className ? { ...both, ...Object.fromEntries(ofClass) } : both;
}
