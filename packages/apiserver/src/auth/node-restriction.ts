import { readRequest } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { AdmissionPlugin, Attempt } from "../contract/admission.ts";
import { at, record, records, same, text, type Json } from "../json/json.ts";
import type { Call } from "../contract/call.ts";
import { forbidden, notFound } from "../errors/status.ts";
import { nodeNameOf } from "./node.ts";
import { referencesOf } from "./references.ts";

/** Says why a kubelet of this node may not do this; undefined when it may. May throw other Status errors. */
type Check = (node: string, attempt: Attempt) => string | undefined | Promise<string | undefined>;

const MIRROR = "kubernetes.io/config.mirror";

const CHECKS: Readonly<Record<string, Check>> = {
  "/pods": checkPod,
  "/nodes": checkNode,
  "/persistentvolumeclaims": checkClaim,
  "/serviceaccounts": checkToken,
  "coordination.k8s.io/leases": checkLease,
  "storage.k8s.io/csinodes": checkCsiNode,
  "certificates.k8s.io/certificatesigningrequests": checkRequest,
};

/**
 * The NodeRestriction admission: a kubelet writes only what is its own node's, as it comes out of whatever patch, and
 * gives itself no labels that would draw others' workloads to it. Source: kubernetes.io, "Admission Controllers",
 * NodeRestriction.
 */
export const nodeRestriction: AdmissionPlugin = {
  concerns: ({ user, resource }, operation, phase) =>
    phase === "mutate" &&
    operation !== "CONNECT" &&
    isRestricted(nodeNameOf(user), `${resource.group}/${resource.plural}`),
  async mutate(attempt) {
    const { call, object } = attempt;
    const node = nodeNameOf(call.user);
    const { group, plural } = call.resource;
    const check = CHECKS[`${group}/${plural}`];
    if (node === undefined) return object;
    if (node === "") {
      const who = JSON.stringify(call.user.name);
      throw forbidden(call.resource, nameOf(attempt), `could not determine node from user ${who}`);
    }
    if (!check) return object;
    const why = await check(node, attempt);
    if (why !== undefined) throw forbidden(call.resource, nameOf(attempt), why);
    return object;
  },
};

/** A kubelet without a node name in its credentials may write nothing. */
function isRestricted(node: string | undefined, what: string): boolean {
  return node === "" || (node !== undefined && what in CHECKS);
}

function nameOf({ call, object, old }: Attempt): string {
  return call.name || (old ?? object)?.metadata.name || "";
}

function stored({ cluster }: Call, resource: string, place: { namespace: string; name: string }): KubeObject {
  const found = cluster.store.get({ cluster: cluster.name, resource, ...place });
  if (!found) throw notFound({ group: "", plural: resource.slice(1) }, place.name);
  return found.object;
}

function nodeOf(pod: unknown): unknown {
  return at(pod, "spec", "nodeName");
}

const EXTENDED = "extendedResourceClaimStatus";

function checkPod(node: string, attempt: Attempt): string | undefined {
  const { call, operation, object, old } = attempt;
  const own = "spec.nodeName set to itself";
  switch (call.subresource) {
    case "":
      if (operation === "CREATE") return checkMirrorPod(node, attempt);
      if (operation === "DELETE") {
        return nodeOf(old) === node ? undefined : `node "${node}" can only delete pods with ${own}`;
      }
      return `unexpected operation "UPDATE", node "${node}" can only create and delete mirror pods`;
    case "status":
      if (nodeOf(old) !== node) return `node "${node}" can only update pod status for pods with ${own}`;
      if (!same(record(object?.metadata.labels), record(old?.metadata.labels))) {
        return `node "${node}" cannot update labels through pod status`;
      }
      if (
        !same(at(object, "status", "resourceClaimStatuses") ?? [], at(old, "status", "resourceClaimStatuses") ?? [])
      ) {
        return `node "${node}" cannot update resource claim statues`;
      }
      return same(at(object, "status", EXTENDED) ?? null, at(old, "status", EXTENDED) ?? null)
        ? undefined
        : `node "${node}" cannot update extended resource claim status`;
    case "eviction": {
      const pod = stored(call, "/pods", { namespace: call.namespace, name: nameOf(attempt) });
      return nodeOf(pod) === node ? undefined : `node ${node} can only evict pods with ${own}`;
    }
    default:
      return `unexpected pod subresource "${call.subresource}", only 'status' and 'eviction' are allowed`;
  }
}

/** A pod that a kubelet runs from a file shows itself, owned by its Node, and refers to nothing else. */
function checkMirrorPod(node: string, { call, object }: Attempt): string | undefined {
  if (at(object, "metadata", "annotations", MIRROR) === undefined) {
    return `pod does not have "${MIRROR}" annotation, node "${node}" can only create mirror pods`;
  }
  const only = `node "${node}" can only create pods with`;
  if (nodeOf(object) !== node) return `${only} spec.nodeName set to itself`;
  const [owner, ...others] = records(at(object, "metadata", "ownerReferences"));
  if (others.length > 0) return `${only} a single owner reference set to itself`;
  if (owner?.["apiVersion"] !== "v1" || owner["kind"] !== "Node" || owner["name"] !== node) {
    return `${only} an owner reference set to itself`;
  }
  if (owner["controller"] !== true) return `${only} a controller owner reference set to itself`;
  if (owner["blockOwnerDeletion"] === true) {
    return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  }
  const { uid } = stored(call, "/nodes", { namespace: "", name: node }).metadata;
  if (owner["uid"] !== uid) return `node ${node} UID mismatch: expected ${text(owner["uid"])} got ${uid ?? ""}`;
  const what = referredTo(record(at(object, "spec")));
  return what === undefined ? undefined : `node "${node}" can not create pods that reference ${what}`;
}

/** What kind of object a PodSpec refers to, if any. */
function referredTo(spec: Json): string | undefined {
  if (text(spec["serviceAccountName"])) return "serviceaccounts";
  const containers = ["containers", "initContainers", "ephemeralContainers"].flatMap((c) => records(spec[c]));
  const volumes = records(spec["volumes"]);
  const sources = volumes.flatMap((v) => [v, ...records(at(v, "projected", "sources"))]);
  const env = containers.flatMap((c) => records(c["env"]));
  const envFrom = containers.flatMap((c) => records(c["envFrom"]));
  const has = (all: readonly Json[], ...path: readonly string[]): boolean => all.some((one) => at(one, ...path));
  if (has(sources, "secret") || has(env, "valueFrom", "secretKeyRef") || has(envFrom, "secretRef")) return "secrets";
  if (records(spec["imagePullSecrets"]).length > 0) return "secrets";
  if (has(sources, "configMap") || has(env, "valueFrom", "configMapKeyRef") || has(envFrom, "configMapRef")) {
    return "configmaps";
  }
  if (has(sources, "serviceAccountToken")) return "serviceaccounts";
  if (has(sources, "clusterTrustBundle")) return "clustertrustbundles";
  if (has(volumes, "persistentVolumeClaim") || has(volumes, "ephemeral")) return "persistentvolumeclaims";
  if (has(volumes, "csi")) return "csidrivers";
  return records(spec["resourceClaims"]).length > 0 ? "resourceclaims" : undefined;
}

function checkNode(node: string, attempt: Attempt): string | undefined {
  const { operation, object, old } = attempt;
  const name = nameOf(attempt);
  if (name !== node) return `node "${node}" is not allowed to modify node "${name}"`;
  if (!object) return undefined;
  if (operation === "CREATE" && at(object, "spec", "configSource")) {
    return `node "${node}" is not allowed to create pods with a non-nil configSource`;
  }
  const [now, was] = [record(object.metadata.labels), record(old?.metadata.labels)];
  const changed = [...new Set([...Object.keys(now), ...Object.keys(was)])].filter((l) => now[l] !== was[l]);
  const labels = changed.filter(isForbidden).sort().join(", ");
  if (operation === "CREATE") {
    return (labels && `node "${node}" is not allowed to set the following labels: ${labels}`) || undefined;
  }
  const source = at(object, "spec", "configSource");
  if (source && !same(source, at(old, "spec", "configSource"))) {
    return `node "${node}" is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!same(at(object, "spec", "taints") ?? [], at(old, "spec", "taints") ?? [])) {
    return `node "${node}" is not allowed to modify taints`;
  }
  if (!same(object.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? [])) {
    return `node "${node}" is not allowed to modify ownerReferences`;
  }
  return labels ? `is not allowed to modify labels: ${labels}` : undefined;
}

const KUBELET_LABELS = new Set([
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);
const KUBERNETES = /(^|\.)(kubernetes|k8s)\.io$/;
const KUBELETS = /(^|\.)(kubelet|node)\.kubernetes\.io$/;

/** Kubernetes' own labels are not a kubelet's to give, but for those that are meant to be. */
function isForbidden(label: string): boolean {
  const slash = label.indexOf("/");
  const prefix = slash < 0 ? "" : label.slice(0, slash);
  return KUBERNETES.test(prefix) && !KUBELETS.test(prefix) && !KUBELET_LABELS.has(label);
}

function checkClaim(node: string, { call, object, old }: Attempt): string | undefined {
  if (call.subresource !== "status") return "may only update PVC status";
  const rest = (claim: KubeObject | undefined): Json => {
    const { metadata, status, ...others } = record(claim);
    const { resourceVersion: _revision, managedFields: _owners, ...kept } = record(metadata);
    const {
      capacity: _c,
      conditions: _o,
      allocatedResources: _a,
      allocatedResourceStatuses: _s,
      ...state
    } = record(status);
    return { ...others, metadata: kept, status: state };
  };
  return same(rest(object), rest(old))
    ? undefined
    : `node "${node}" is not allowed to update fields other than status.quantity and status.conditions`;
}

/** A kubelet asks for tokens for pods that run on its node, for audiences that those pods ask for. */
function checkToken(node: string, { call, operation, object }: Attempt): string | undefined {
  if (operation !== "CREATE" || call.subresource !== "token") return undefined;
  const spec = record(at(object, "spec"));
  const bound = record(spec["boundObjectRef"]);
  if (bound["apiVersion"] !== "v1" || bound["kind"] !== "Pod" || !text(bound["name"])) {
    return "node requested token not bound to a pod";
  }
  if (!text(bound["uid"])) return "node requested token with a pod binding without a uid";
  const pod = stored(call, "/pods", { namespace: call.namespace, name: text(bound["name"]) });
  if (pod.metadata.uid !== bound["uid"]) {
    return `the UID in the bound object reference (${text(bound["uid"])}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (nodeOf(pod) !== node) return "node requested token bound to a pod scheduled on a different node";
  return checkAudience(call, spec, pod);
}

function checkAudience(call: Call, spec: Json, pod: KubeObject): string | undefined {
  const [audience = "", ...others] = Array.isArray(spec["audiences"])
    ? (spec["audiences"] as unknown[]).map(String)
    : [];
  if (others.length > 0) return "node may only request 0 or 1 audiences";
  // An audience that is this server's own default was requested by naming none.
  const asked = audience === call.cluster.issuer ? "" : audience;
  const sources = records(at(pod, "spec", "volumes")).flatMap((v) => records(at(v, "projected", "sources")));
  const named = sources.map((s) => s["serviceAccountToken"]).filter(Boolean);
  if (named.some((t) => [asked, audience].includes(text(at(t, "audience"))))) return undefined;
  if (driversOf(call, pod).some((driver) => wantsAudience(call, driver, [asked, audience]))) return undefined;
  const { user, namespace, name } = call;
  const verb = "request-serviceaccounts-token-audience";
  const about = { group: "", version: "v1", plural: audience, subresource: "", namespace, name };
  if (call.cluster.access.allows({ user, verb, ...about })) return undefined;
  return `audience "${audience}" not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`;
}

/** The CSI drivers that a pod's volumes are mounted by, themselves or by way of a claim. */
function driversOf({ cluster, namespace }: Call, pod: KubeObject): string[] {
  const found = (resource: string, place: { namespace: string; name: string }): KubeObject | undefined =>
    cluster.store.get({ cluster: cluster.name, resource, ...place })?.object;
  const inline = records(at(pod, "spec", "volumes")).map((volume) => at(volume, "csi", "driver"));
  const claimed = [...referencesOf(pod, "persistentvolumeclaims")].map((name) => {
    const volume = text(at(found("/persistentvolumeclaims", { namespace, name }), "spec", "volumeName"));
    return at(volume && found("/persistentvolumes", { namespace: "", name: volume }), "spec", "csi", "driver");
  });
  return [...inline, ...claimed].map(text).filter(Boolean);
}

function wantsAudience({ cluster }: Call, driver: string, audiences: readonly string[]): boolean {
  const key = { cluster: cluster.name, resource: "storage.k8s.io/csidrivers", namespace: "", name: driver };
  const requests = records(at(cluster.store.get(key)?.object, "spec", "tokenRequests"));
  return requests.some((request) => audiences.includes(text(request["audience"])));
}

function checkLease(node: string, attempt: Attempt): string | undefined {
  if (attempt.call.namespace !== "kube-node-lease") {
    return 'can only access leases in the "kube-node-lease" system namespace';
  }
  if (nameOf(attempt) === node) return undefined;
  return "can only access node lease with the same name as the requesting node";
}

function checkCsiNode(node: string, attempt: Attempt): string | undefined {
  return nameOf(attempt) === node ? undefined : "can only access CSINode with the same name as the requesting node";
}

const OWN_SIGNERS = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

async function checkRequest(node: string, { operation, object }: Attempt): Promise<string | undefined> {
  if (operation !== "CREATE" || !OWN_SIGNERS.includes(text(at(object, "spec", "signerName")))) return undefined;
  const pem = Buffer.from(text(at(object, "spec", "request")), "base64").toString();
  const subject = await readRequest(pem).catch(() => undefined);
  if (!subject) return "unable to parse csr: PEM block type must be CERTIFICATE REQUEST";
  const name = `system:node:${node}`;
  return subject.commonName === name ? undefined : `can only create a node CSR with CN=${name}`;
}
