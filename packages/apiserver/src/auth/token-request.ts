import { randomUUID } from "node:crypto";
import type { KubeObject } from "@causeway/kubernetes";
import { at, record, text, texts, timestamp, type Json } from "../json/json.ts";
import { current, type Call } from "../contract/call.ts";
import { invalidValue } from "../errors/problems.ts";
import { badRequest, conflict, invalid, notFound } from "../errors/status.ts";
import { jose } from "../lazy-imports.ts";

const SHORTEST_SECONDS = 600;
const LONGEST_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 3600;

/** What kubelets ask for. */
const WARNED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 86_400;

/** Answers a TokenRequest (authentication.k8s.io/v1) on a ServiceAccount with a signed JWT. */
export async function issueToken(call: Call, body: unknown): Promise<Json> {
  if (record(body)["kind"] !== "TokenRequest")
    throw badRequest("the body must be an authentication.k8s.io/v1 TokenRequest");
  const { cluster } = call;
  const request = record(body);
  const account = current(call).object;
  const spec = record(request["spec"]);
  const metadata = metadataOf(call, record(request["metadata"]), account);
  const seconds = lifetime(spec["expirationSeconds"]);
  const audiences = texts(spec["audiences"]).length > 0 ? texts(spec["audiences"]) : [cluster.issuer];
  const bound = spec["boundObjectRef"] ? boundObject(call, record(spec["boundObjectRef"])) : {};
  const issued = Math.floor(cluster.clock.now() / 1000);
  // What a kubelet asks for lives on past the time it asks for, so that programs which never read it again are warned,
  // not cut off.
  const extended = "pod" in bound && seconds === WARNED_SECONDS && audiences.every((a) => a === cluster.issuer);
  const { name, uid = "" } = account.metadata;
  const claims = {
    "kubernetes.io": {
      namespace: call.namespace,
      serviceaccount: { name, uid },
      ...bound,
      ...(extended ? { warnafter: issued + seconds } : {}),
    },
  };
  const { key, algorithm, id } = cluster.accountKeys.signing;
  const jti = randomUUID();
  const token = await new (jose().SignJWT)(claims)
    .setProtectedHeader({ alg: algorithm, kid: id })
    .setIssuer(cluster.issuer)
    .setSubject(`system:serviceaccount:${call.namespace}:${name}`)
    .setAudience([...audiences])
    .setIssuedAt(issued)
    .setNotBefore(issued)
    .setExpirationTime(issued + (extended ? EXTENDED_SECONDS : seconds))
    .setJti(jti)
    .sign(key);
  call.annotate("authentication.kubernetes.io/issued-credential-id", `JTI=${jti}`);
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata,
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec["boundObjectRef"] ?? null },
    status: { token, expirationTimestamp: timestamp((issued + seconds) * 1000) },
  };
}

/** Those of the account; what the request says of them must be so. */
function metadataOf(call: Call, given: Json, { metadata }: KubeObject): Json {
  const type = { group: "authentication.k8s.io", kind: "TokenRequest" };
  const { name, uid } = metadata;
  if (text(given["namespace"]) && given["namespace"] !== call.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (text(given["name"]) && given["name"] !== name) {
    const why = "must match the service account name if specified";
    throw invalid(type, name, [invalidValue("metadata.name", given["name"], why)]);
  }
  if (text(given["uid"]) && given["uid"] !== uid) {
    const why = `the UID in the token request (${text(given["uid"])}) does not match the UID of the service account (${uid ?? ""})`;
    throw conflict({ group: type.group, plural: type.kind }, name, why);
  }
  return { ...given, name, namespace: call.namespace, uid, creationTimestamp: timestamp(call.cluster.clock.now()) };
}

function lifetime(given: unknown): number {
  if (given === undefined || given === null) return DEFAULT_SECONDS;
  const fault =
    typeof given !== "number" || given < SHORTEST_SECONDS
      ? "may not specify a duration less than 10 minutes"
      : given > LONGEST_SECONDS
        ? "may not specify a duration larger than 2^32 seconds"
        : undefined;
  if (fault) {
    const type = { group: "authentication.k8s.io", kind: "TokenRequest" };
    throw invalid(type, "", [invalidValue("spec.expirationSeconds", given, fault)]);
  }
  return given as number;
}

/** What a token says of the object it ends with. */
function boundObject(call: Call, reference: Json): Json {
  const kind = text(reference["kind"]);
  const name = text(reference["name"]);
  const plurals: Readonly<Record<string, string>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };
  const plural = plurals[kind];
  const [group = "", version = ""] = text(reference["apiVersion"]).includes("/")
    ? text(reference["apiVersion"]).split("/")
    : ["", text(reference["apiVersion"])];
  if (!plural || group !== "") {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const object = objectAt(call, plural, name);
  if (!object) throw notFound({ group: "", plural }, name);
  if (kind === "Pod" && at(object, "spec", "serviceAccountName") !== call.name) {
    throw badRequest(
      `cannot bind token for serviceaccount "${call.name}" to pod running with different serviceaccount name.`,
    );
  }
  const { uid = "" } = object.metadata;
  const wanted = text(reference["uid"]);
  if (wanted && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", plural: kind }, name, why);
  }
  const nodeName = kind === "Pod" ? text(at(object, "spec", "nodeName")) : "";
  const node = nodeName ? { node: { name: nodeName, ...uidOf(objectAt(call, "nodes", nodeName)) } } : {};
  return { [kind.toLowerCase()]: { name, uid }, ...node };
}

function objectAt({ cluster, namespace }: Call, plural: string, name: string): KubeObject | undefined {
  const key = { cluster: cluster.name, resource: `/${plural}`, namespace: plural === "nodes" ? "" : namespace, name };
  return cluster.store.get(key)?.object;
}

function uidOf(object: KubeObject | undefined): Json {
  return object?.metadata.uid ? { uid: object.metadata.uid } : {};
}
