import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../clusters/cluster.ts";
import { at, record, records, same, text, type Json } from "../json.ts";
import { forbidden } from "../server/status.ts";
import type { RequestInfo } from "../server/request-info.ts";
import { nodeNameOf } from "./node.ts";
import type { User } from "./user.ts";

interface Written {
  readonly user: User;
  readonly info: RequestInfo;
  readonly body: unknown;
}

const RESTRICTED = "node-restriction.kubernetes.io/";

/**
 * The NodeRestriction admission: a kubelet writes only its own Node, Lease and pods' status, and gives itself
 * no labels of the restricted prefix. Throws 403. Source: kubernetes.io, "Admission Controllers", NodeRestriction.
 */
export function nodeRestriction(cluster: Cluster, { user, info, body }: Written): void {
  const node = nodeNameOf(user);
  if (node === undefined || !["create", "update", "patch", "delete"].includes(info.verb)) return;
  const name = info.name || text(at(body, "metadata", "name"));
  switch (`${info.group}/${info.plural}`) {
    case "/nodes":
      return checkNode(node, { name, verb: info.verb, body });
    case "coordination.k8s.io/leases":
      if (info.namespace !== "kube-node-lease" || name !== node) {
        const why = `can only access node lease with the same name as the requesting node`;
        throw forbidden({ group: "coordination.k8s.io", plural: "leases" }, name, why);
      }
      return;
    case "/pods":
      return checkPod(cluster, node, { info, name, body });
    default:
      return;
  }
}

const NODES = { group: "", plural: "nodes" } as const;
const PODS = { group: "", plural: "pods" } as const;

function checkNode(node: string, { name, verb, body }: { name: string; verb: string; body: unknown }): void {
  if (name !== node) throw forbidden(NODES, name, `node "${node}" is not allowed to modify node "${name}"`);
  if (verb === "delete") throw forbidden(NODES, name, `node "${node}" is not allowed to delete node "${name}"`);
  if (records(at(body, "metadata", "ownerReferences")).length > 0 && verb === "create") {
    throw forbidden(NODES, name, `node "${node}" is not allowed to set owner references`);
  }
}

/** The part of it that looks at what a write, of whatever patch type, makes of a Node. Throws 403. */
export function restrictNodeChange(user: User, object: KubeObject, old: KubeObject | undefined): void {
  const node = nodeNameOf(user);
  if (node === undefined) return;
  const { name } = object.metadata;
  const labels = record(object.metadata.labels);
  const before = record(old?.metadata.labels);
  const keys = [...new Set([...Object.keys(labels), ...Object.keys(before)])];
  const changed = keys.filter((l) => isRestricted(l) && labels[l] !== before[l]);
  if (changed.length > 0) {
    throw forbidden(NODES, name, `is not allowed to modify labels: ${changed.sort().join(", ")}`);
  }
  if (old && !same(at(object, "spec", "taints") ?? [], at(old, "spec", "taints") ?? [])) {
    throw forbidden(NODES, name, `node "${node}" is not allowed to modify taints`);
  }
}

function isRestricted(label: string): boolean {
  const prefix = label.split("/")[0] ?? "";
  return label.startsWith(RESTRICTED) || prefix.endsWith(".node-restriction.kubernetes.io");
}

function checkPod(
  cluster: Cluster,
  node: string,
  { info, name, body }: { info: RequestInfo; name: string; body: unknown },
): void {
  if (info.verb === "create" && info.subresource === "") {
    const pod = record(body);
    const mirror = at(pod, "metadata", "annotations", "kubernetes.io/config.mirror");
    if (!mirror)
      throw forbidden(
        PODS,
        name,
        `pod does not have "kubernetes.io/config.mirror" annotation, node "${node}" can only create mirror pods`,
      );
    if (at(pod, "spec", "nodeName") !== node)
      throw forbidden(PODS, name, `node "${node}" can only create pods with spec.nodeName set to itself`);
    return;
  }
  const key = { cluster: cluster.name, resource: "/pods", namespace: info.namespace, name };
  const pod: Json = record(cluster.store.get(key)?.object);
  if (Object.keys(pod).length > 0 && at(pod, "spec", "nodeName") !== node) {
    throw forbidden(PODS, name, `node "${node}" can only ${info.verb} pods with spec.nodeName set to itself`);
  }
}
