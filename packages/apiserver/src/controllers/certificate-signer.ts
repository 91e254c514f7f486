import { messageOf, readRequest, signRequest, type CertificateSubject } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { fields, record, records, text, texts, timestamp, type Json } from "../json/json.ts";
import type { Draft, Resource } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

const YEAR_SECONDS = 365 * 86_400;
const KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING = "kubernetes.io/kubelet-serving";
const CLIENT = "kubernetes.io/kube-apiserver-client";
const SIGNERS: readonly string[] = [CLIENT, KUBELET_CLIENT, SERVING];
const NODE_PREFIX = "system:node:";

/**
 * Signs approved requests of Kubernetes' own signers with the cluster's authority; what a signer refuses is marked
 * Failed.
 */
export function certificateSigner(cluster: Cluster): Controller {
  const requests = builtIn(cluster, "certificates.k8s.io", "certificatesigningrequests");
  const loop = startLoop({
    name: "certificate-signer",
    cluster,
    reconcile: (name) => signOne(cluster, requests, name),
  });
  const check = (object: KubeObject): void => {
    if (isWaiting(object)) loop.add(object.metadata.name);
  };
  return {
    saw({ resource, object, type }) {
      if (resource === requests && type !== "DELETED") check(object);
    },
    resume() {
      for (const { object } of cluster.store.list({ cluster: cluster.name, resource: requests.storage }).items)
        check(object);
    },
    stop: () => loop.stop(),
  };
}

/** Approved, neither signed nor failed, and of a signer that this is. */
function isWaiting(object: KubeObject): boolean {
  const request = fields(object);
  const status = record(request["status"]);
  const types = records(status["conditions"]).map((c) => c["type"]);
  const ours = SIGNERS.includes(text(record(request["spec"])["signerName"]));
  return (
    ours &&
    types.includes("Approved") &&
    !types.includes("Denied") &&
    !types.includes("Failed") &&
    !status["certificate"]
  );
}

async function signOne(cluster: Cluster, requests: Resource, name: string): Promise<void> {
  const stored = cluster.store.get({ cluster: cluster.name, resource: requests.storage, namespace: "", name });
  if (!stored || !isWaiting(stored.object)) return;
  const spec = record(fields(stored.object)["spec"]);
  const outcome = await signed(cluster, spec).then(
    (certificate) => ({ certificate: Buffer.from(certificate).toString("base64") }),
    (error: unknown) => ({ failure: messageOf(error) }),
  );
  await change(internalCall(cluster, requests, { name, subresource: "status" }), ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    const status = record(draft["status"]);
    draft["status"] = "certificate" in outcome ? { ...status, ...outcome } : failed(status, outcome.failure, cluster);
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}

function failed(status: Json, message: string, cluster: Cluster): Json {
  const now = timestamp(cluster.clock.now());
  const condition = { type: "Failed", status: "True", reason: "SignerValidationFailure", message };
  return {
    ...status,
    conditions: [...records(status["conditions"]), { ...condition, lastUpdateTime: now, lastTransitionTime: now }],
  };
}

async function signed(cluster: Cluster, spec: Json): Promise<string> {
  const pem = Buffer.from(text(spec["request"]), "base64").toString();
  const signer = text(spec["signerName"]);
  const usages = texts(spec["usages"]);
  const fault = faultOf(signer, await readRequest(pem), usages);
  if (fault) throw new Error(fault);
  const seconds = typeof spec["expirationSeconds"] === "number" ? spec["expirationSeconds"] : YEAR_SECONDS;
  return signRequest(cluster.authority, pem, {
    usages: [
      ...(usages.includes("client auth") ? (["client"] as const) : []),
      ...(usages.includes("server auth") ? (["server"] as const) : []),
    ],
    lifetime: Math.min(seconds, YEAR_SECONDS) * 1000,
    now: cluster.clock.now(),
  });
}

/**
 * Why a signer may not sign a request; undefined when it may.
 * Source: kubernetes.io "Certificates and Certificate Signing Requests", Kubernetes signers.
 */
function faultOf(signer: string, subject: CertificateSubject, usages: readonly string[]): string | undefined {
  const allowed = ["digital signature", "key encipherment", signer === SERVING ? "server auth" : "client auth"];
  const needed = signer === SERVING ? "server auth" : "client auth";
  if (usages.some((u) => !allowed.includes(u)) || !usages.includes(needed)) {
    return `usages did not match; the signer takes ${allowed.join(", ")}`;
  }
  const groups = subject.organizations ?? [];
  if (signer === CLIENT)
    return groups.includes("system:masters") ? "requesters may not be in system:masters" : undefined;
  if (groups.length !== 1 || groups[0] !== "system:nodes") return "subject organization is not system:nodes";
  if (!subject.commonName.startsWith(NODE_PREFIX)) return "subject common name does not begin with system:node: ";
  if (subject.commonName === NODE_PREFIX) return "subject common name does not name a node";
  const names = (subject.dnsNames ?? []).length + (subject.ipAddresses ?? []).length;
  if (signer === KUBELET_CLIENT) return names > 0 ? "DNS and IP subject alternative names are not allowed" : undefined;
  return names === 0 ? "at least one DNS name or IP subject alternative name is required" : undefined;
}
