import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../clusters/cluster.ts";
import { at, fields, record, records, text, type Json } from "../json.ts";
import type { Attributes, Decision } from "./attributes.ts";
import type { User } from "./user.ts";

const PREFIX = "system:node:";
const DENIED: Decision = { allowed: false, reason: "" };
const ALLOWED: Decision = { allowed: true, reason: "" };
const READS = new Set(["get", "list", "watch"]);

/** The node that a user is the kubelet of. */
export function nodeNameOf(user: User): string | undefined {
  return user.groups.includes("system:nodes") && user.name.startsWith(PREFIX)
    ? user.name.slice(PREFIX.length)
    : undefined;
}

/** What every kubelet may do, whatever its node: "verb group/plural". */
const ANY_NODE = new Set([
  "create /nodes",
  "get /services",
  "list /services",
  "watch /services",
  "create certificates.k8s.io/certificatesigningrequests",
  "get certificates.k8s.io/certificatesigningrequests",
  "list certificates.k8s.io/certificatesigningrequests",
  "watch certificates.k8s.io/certificatesigningrequests",
  "create /events",
  "patch /events",
  "update /events",
  "create events.k8s.io/events",
  "patch events.k8s.io/events",
  "update events.k8s.io/events",
  "create /pods",
  "list /pods",
  "watch /pods",
  "get /pods",
  "delete /pods",
  "create authentication.k8s.io/tokenreviews",
  "create authorization.k8s.io/subjectaccessreviews",
  "create authorization.k8s.io/localsubjectaccessreviews",
  "create coordination.k8s.io/leases",
  "list coordination.k8s.io/leases",
  "watch coordination.k8s.io/leases",
  "get discovery.k8s.io/endpointslices",
  "list discovery.k8s.io/endpointslices",
  "watch discovery.k8s.io/endpointslices",
]);

/**
 * The Node authorizer: a kubelet reaches its own Node and Lease, and what the pods on its node refer to.
 * Source: kubernetes.io, "Using Node Authorization".
 */
export function nodeDecision(cluster: Cluster, asked: Attributes): Decision {
  const node = nodeNameOf(asked.user);
  if (node === undefined || asked.path !== undefined) return DENIED;
  const what = `${asked.group}/${asked.plural}`;
  if (asked.subresource === "" && ANY_NODE.has(`${asked.verb} ${what}`)) return ALLOWED;
  switch (what) {
    case "/nodes":
      return own(node, asked) ? ALLOWED : refuse(node, asked);
    case "coordination.k8s.io/leases":
      return asked.namespace === "kube-node-lease" && asked.name === node ? ALLOWED : refuse(node, asked);
    case "/pods":
      return podDecision(cluster, node, asked);
    case "/secrets":
    case "/configmaps":
    case "/persistentvolumeclaims":
      return referenced(cluster, node, asked) ? ALLOWED : refuse(node, asked);
    case "/serviceaccounts":
      return accountDecision(cluster, node, asked);
    default:
      return DENIED;
  }
}

function refuse(node: string, { plural, name }: Attributes): Decision {
  return {
    allowed: false,
    reason: `no relationship found between node '${node}' and this object (${plural} "${name}")`,
  };
}

/** Which node is changed is for the NodeRestriction admission to mind, which says more of it. */
function own(node: string, { verb, name, fieldSelector }: Attributes): boolean {
  if (verb === "update" || verb === "patch") return true;
  if (verb === "list" || verb === "watch") return name === node || fieldSelector === `metadata.name=${node}`;
  return name === node && ["get", "delete"].includes(verb);
}

function podDecision(cluster: Cluster, node: string, asked: Attributes): Decision {
  if (asked.subresource === "eviction" && asked.verb === "create") return ALLOWED;
  if (asked.subresource !== "status") return DENIED;
  const pod = cluster.store.get({
    cluster: cluster.name,
    resource: "/pods",
    namespace: asked.namespace,
    name: asked.name,
  });
  return pod && text(at(pod.object, "spec", "nodeName")) === node ? ALLOWED : refuse(node, asked);
}

function podsOn(cluster: Cluster, node: string, namespace: string): readonly KubeObject[] {
  const { items } = cluster.store.list({ cluster: cluster.name, resource: "/pods", namespace });
  return items.map((i) => i.object).filter((p) => text(at(p, "spec", "nodeName")) === node);
}

function referenced(cluster: Cluster, node: string, { verb, name, namespace, plural }: Attributes): boolean {
  if (!READS.has(verb) || !name || !namespace) return false;
  return podsOn(cluster, node, namespace).some((pod) => names(record(fields(pod)["spec"]), plural).has(name));
}

function accountDecision(cluster: Cluster, node: string, asked: Attributes): Decision {
  const allowed =
    (asked.verb === "create" && asked.subresource === "token") || (asked.verb === "get" && asked.subresource === "");
  if (!allowed) return DENIED;
  const uses = podsOn(cluster, node, asked.namespace).some((p) => at(p, "spec", "serviceAccountName") === asked.name);
  return uses ? ALLOWED : refuse(node, asked);
}

/** Names of Secrets, ConfigMaps or claims that a PodSpec refers to. */
function names(spec: Json, plural: string): Set<string> {
  const found = new Set<string>();
  const add = (value: unknown): void => {
    if (text(value)) found.add(text(value));
  };
  const volumes = records(spec["volumes"]).flatMap((v) => [v, ...records(at(v, "projected", "sources"))]);
  const containers = [...records(spec["containers"]), ...records(spec["initContainers"])];
  if (plural === "persistentvolumeclaims") {
    for (const v of volumes) add(at(v, "persistentVolumeClaim", "claimName"));
    return found;
  }
  const [kind, reference] = plural === "secrets" ? ["secret", "secretKeyRef"] : ["configMap", "configMapKeyRef"];
  for (const v of volumes) add(at(v, kind ?? "", "secretName") ?? at(v, kind ?? "", "name"));
  for (const c of containers) {
    for (const e of records(c["env"])) add(at(e, "valueFrom", reference ?? "", "name"));
    for (const e of records(c["envFrom"])) add(at(e, `${kind ?? ""}Ref`, "name"));
  }
  if (plural === "secrets") for (const s of records(spec["imagePullSecrets"])) add(s["name"]);
  return found;
}
