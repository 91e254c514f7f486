import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { at, record, text } from "../json/json.ts";
import type { Attributes, Decision } from "../contract/attributes.ts";
import { namesSecret, referencesOf } from "./references.ts";
import type { User } from "../contract/user.ts";

const PREFIX = "system:node:";
const MIRROR = "kubernetes.io/config.mirror";
const DENIED: Decision = { allowed: false, reason: "" };
const ALLOWED: Decision = { allowed: true, reason: "" };

/** The node that a user is the kubelet of; "" for a kubelet that does not say of which: it has no rights. */
export function nodeNameOf(user: User): string | undefined {
  return user.groups.includes("system:nodes") && user.name.startsWith(PREFIX)
    ? user.name.slice(PREFIX.length)
    : undefined;
}

const CREATE = ["create"];
const READ = ["get", "list", "watch"];
const WRITE = ["create", "update", "patch"];
const OWN = ["get", "create", "update", "patch", "delete"];

/** What every kubelet may do, whatever its node. */
const ANY_NODE: Readonly<Record<string, readonly string[]>> = {
  "authentication.k8s.io/tokenreviews": CREATE,
  "authorization.k8s.io/subjectaccessreviews": CREATE,
  "authorization.k8s.io/localsubjectaccessreviews": CREATE,
  "/services": READ,
  "/events": WRITE,
  "events.k8s.io/events": WRITE,
  "/endpoints": ["get"],
  "certificates.k8s.io/certificatesigningrequests": ["create", ...READ],
  "certificates.k8s.io/clustertrustbundles": READ,
  "discovery.k8s.io/endpointslices": READ,
  "storage.k8s.io/csidrivers": READ,
  "node.k8s.io/runtimeclasses": READ,
};

/**
 * The Node authorizer: a kubelet reaches its own Node, Lease and CSINode, and what the pods on its node refer to.
 * Source: kubernetes.io, "Using Node Authorization".
 */
export function nodeDecision(cluster: Cluster, asked: Attributes): Decision {
  const node = nodeNameOf(asked.user);
  if (node === undefined) return DENIED;
  if (node === "") return denied(`unknown node for user ${JSON.stringify(asked.user.name)}`);
  if (asked.path !== undefined) return DENIED;
  const what = `${asked.group}/${asked.plural}`;
  switch (what) {
    case "/nodes":
      return ownNode(node, asked);
    case "/pods":
      return podDecision(cluster, node, asked);
    case "coordination.k8s.io/leases":
      return leaseDecision(node, asked);
    case "storage.k8s.io/csinodes":
      return ownDecision(node, asked, "CSINode");
    case "/secrets":
    case "/configmaps":
      return readDecision(cluster, node, asked);
    case "/persistentvolumeclaims":
      return asked.subresource === "status" ? statusDecision(cluster, node, asked) : getDecision(cluster, node, asked);
    case "/persistentvolumes":
    case "storage.k8s.io/volumeattachments":
      return getDecision(cluster, node, asked);
    case "/serviceaccounts":
      return accountDecision(cluster, node, asked);
    default:
      return asked.subresource === "" && ANY_NODE[what]?.includes(asked.verb) === true ? ALLOWED : DENIED;
  }
}

function denied(reason: string): Decision {
  return { allowed: false, reason };
}

/** Which node is changed is for the NodeRestriction admission to mind, which says more of it. */
function ownNode(node: string, { verb, name, subresource }: Attributes): Decision {
  if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOWED : DENIED;
  if (subresource !== "") return DENIED;
  if (WRITE.includes(verb)) return ALLOWED;
  if (!READ.includes(verb)) return DENIED;
  if (name === node) return ALLOWED;
  const others = name === "" ? "all nodes" : `'${name}'`;
  return denied(`node '${node}' cannot read ${others}, only its own Node object`);
}

function podDecision(cluster: Cluster, node: string, asked: Attributes): Decision {
  const { verb, subresource, name, fieldRequirements } = asked;
  if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOWED : DENIED;
  if (subresource === "eviction") return verb === "create" ? ALLOWED : DENIED;
  if (subresource !== "") return DENIED;
  if (verb === "create" || verb === "delete") return ALLOWED;
  if (verb === "get") return related(cluster, node, asked);
  if (verb !== "list" && verb !== "watch") return DENIED;
  if (isLimitedTo(fieldRequirements, "spec.nodeName", node)) return ALLOWED;
  if (name !== "") return related(cluster, node, asked);
  return denied("can only list/watch pods with spec.nodeName field selector");
}

/** Whether a list or watch asks for one value of one field alone. */
function isLimitedTo(requirements: Attributes["fieldRequirements"], key: string, value: string): boolean {
  return (requirements ?? []).some(
    (r) => r.key === key && r.operator === "In" && r.values.length === 1 && r.values[0] === value,
  );
}

function leaseDecision(node: string, asked: Attributes): Decision {
  if (!OWN.includes(asked.verb)) return denied("can only get, create, update, patch, or delete a node lease");
  if (asked.namespace !== "kube-node-lease") {
    return denied('can only access leases in the "kube-node-lease" system namespace');
  }
  if (asked.verb === "create" || asked.name === node) return ALLOWED;
  return denied("can only access node lease with the same name as the requesting node");
}

function ownDecision(node: string, { verb, name, subresource }: Attributes, kind: string): Decision {
  if (!OWN.includes(verb)) return denied(`can only get, create, update, patch, or delete a ${kind}`);
  if (subresource !== "") return denied(`cannot authorize ${kind} subresources`);
  if (verb === "create" || name === node) return ALLOWED;
  return denied(`can only access ${kind} with the same name as the requesting node`);
}

function readDecision(cluster: Cluster, node: string, asked: Attributes): Decision {
  if (!READ.includes(asked.verb)) return denied("can only read resources of this type");
  if (asked.subresource !== "") return denied("cannot read subresource");
  if (asked.namespace === "") return denied("can only read namespaced object of this type");
  return related(cluster, node, asked);
}

function getDecision(cluster: Cluster, node: string, asked: Attributes): Decision {
  if (asked.verb !== "get") return denied("can only get individual resources of this type");
  if (asked.subresource !== "") return denied("cannot get subresource");
  return related(cluster, node, asked);
}

function statusDecision(cluster: Cluster, node: string, asked: Attributes): Decision {
  if (asked.verb !== "update" && asked.verb !== "patch") return denied("can only get/update/patch this type");
  return related(cluster, node, asked);
}

function accountDecision(cluster: Cluster, node: string, asked: Attributes): Decision {
  if (asked.verb === "get" && asked.subresource === "") return readDecision(cluster, node, asked);
  if (asked.verb !== "create" || asked.name === "") {
    return denied("can only create tokens for individual service accounts");
  }
  if (asked.subresource !== "token") return denied("can only create token subresource of serviceaccount");
  return related(cluster, node, asked);
}

/** Whether a pod on the node leads to what is requested. */
function related(cluster: Cluster, node: string, asked: Attributes): Decision {
  if (asked.name === "") return denied("No Object name found");
  return isRelated(cluster, node, asked)
    ? ALLOWED
    : denied(`no relationship found between node '${node}' and this object`);
}

function isRelated(cluster: Cluster, node: string, { plural, namespace, name }: Attributes): boolean {
  const stored = (resource: string): KubeObject | undefined =>
    cluster.store.get({ cluster: cluster.name, resource, namespace, name })?.object;
  switch (plural) {
    case "pods":
      return at(stored("/pods"), "spec", "nodeName") === node;
    case "volumeattachments":
      return at(stored("storage.k8s.io/volumeattachments"), "spec", "nodeName") === node;
    case "serviceaccounts":
      return podsOn(cluster, node, namespace).some((p) => at(p, "spec", "serviceAccountName") === name);
    case "persistentvolumes":
      return usesVolume(cluster, node, stored("/persistentvolumes"));
    case "secrets":
      return uses(cluster, node, { plural, namespace, name }) || isOfVolume(cluster, node, { namespace, name });
    default:
      return uses(cluster, node, { plural, namespace, name });
  }
}

type Named = Pick<Attributes, "plural" | "namespace" | "name">;

/** Whether a pod on a node refers to it. */
function uses(cluster: Cluster, node: string, { plural, namespace, name }: Named): boolean {
  return podsOn(cluster, node, namespace).some((pod) => referencesOf(pod, plural).has(name));
}

/** Pods that a kubelet brought along lead to nothing: it could write into them what it likes. */
function podsOn(cluster: Cluster, node: string, namespace: string): readonly KubeObject[] {
  const { items } = cluster.store.list({ cluster: cluster.name, resource: "/pods", namespace });
  const isOwn = (pod: KubeObject): boolean =>
    text(at(pod, "spec", "nodeName")) === node && pod.metadata.annotations?.[MIRROR] === undefined;
  return items.map((i) => i.object).filter(isOwn);
}

function usesVolume(cluster: Cluster, node: string, volume: KubeObject | undefined): boolean {
  const claim = record(at(volume, "spec", "claimRef"));
  const [namespace, name] = [text(claim["namespace"]), text(claim["name"])];
  return name !== "" && uses(cluster, node, { plural: "persistentvolumeclaims", namespace, name });
}

/** Whether a Secret is one that a volume which a pod on the node uses is mounted with. */
function isOfVolume(cluster: Cluster, node: string, secret: Pick<Named, "namespace" | "name">): boolean {
  const { items } = cluster.store.list({ cluster: cluster.name, resource: "/persistentvolumes" });
  return items.some(({ object }) => namesSecret(object, secret) && usesVolume(cluster, node, object));
}
