import { createPrivateKey, createPublicKey, randomUUID, type KeyObject } from "node:crypto";
import { SignJWT, jwtVerify } from "jose";
import type { Cluster } from "../clusters/cluster.ts";
import { at, record, text, texts, timestamp, type Json } from "../json.ts";
import { current, type Call } from "../registry/call.ts";
import { invalidValue } from "../server/problems.ts";
import { badRequest, conflict, invalid, notFound } from "../server/status.ts";
import type { User } from "./user.ts";

const SHORTEST_SECONDS = 600;
const LONGEST_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 3600;

interface Bound {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Answers a TokenRequest (authentication.k8s.io/v1) on a ServiceAccount with a signed JWT. */
export async function issueToken(call: Call, body: unknown): Promise<Json> {
  if (record(body)["kind"] !== "TokenRequest")
    throw badRequest("the body must be an authentication.k8s.io/v1 TokenRequest");
  const { cluster } = call;
  const account = current(call).object;
  const spec = record(record(body)["spec"]);
  const seconds = lifetime(spec["expirationSeconds"]);
  const audiences = texts(spec["audiences"]).length > 0 ? texts(spec["audiences"]) : [cluster.issuer];
  const bound = spec["boundObjectRef"] ? boundObject(call, record(spec["boundObjectRef"])) : undefined;
  const issued = Math.floor(cluster.clock.now() / 1000);
  const expires = issued + seconds;
  const { name, uid = "" } = account.metadata;
  const claims = {
    "kubernetes.io": {
      namespace: call.namespace,
      serviceaccount: { name, uid },
      ...(bound ? { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } } : {}),
    },
  };
  const key = signingKey(cluster.serviceAccountKey);
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm(key), kid: "causeway" })
    .setIssuer(cluster.issuer)
    .setSubject(`system:serviceaccount:${call.namespace}:${name}`)
    .setAudience([...audiences])
    .setIssuedAt(issued)
    .setNotBefore(issued)
    .setExpirationTime(expires)
    .setJti(randomUUID())
    .sign(key);
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace: call.namespace, creationTimestamp: timestamp(cluster.clock.now()) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec["boundObjectRef"] ?? null },
    status: { token, expirationTimestamp: timestamp(expires * 1000) },
  };
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

function boundObject(call: Call, reference: Json): Bound {
  const kind = text(reference["kind"]);
  const name = text(reference["name"]);
  const plurals: Readonly<Record<string, string>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };
  const plural = plurals[kind];
  if (!plural) {
    const [group = "", version = ""] = text(reference["apiVersion"]).includes("/")
      ? text(reference["apiVersion"]).split("/")
      : ["", text(reference["apiVersion"])];
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const namespace = kind === "Node" ? "" : call.namespace;
  const found = call.cluster.store.get({ cluster: call.cluster.name, resource: `/${plural}`, namespace, name });
  if (!found) throw notFound({ group: "", plural }, name);
  const { uid = "" } = found.object.metadata;
  const wanted = text(reference["uid"]);
  if (wanted && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", plural }, name, why);
  }
  return { kind, name, uid };
}

export interface TokenFacts {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** Who a service-account JWT stands for; undefined when it is not ours, expired, or what it is bound to is gone. */
export async function verifyServiceAccountToken(
  cluster: Cluster,
  token: string,
  audiences: readonly string[] = [cluster.issuer],
): Promise<TokenFacts | undefined> {
  const key = signingKey(cluster.serviceAccountKey);
  const options = {
    issuer: cluster.issuer,
    audience: [...audiences],
    algorithms: [algorithm(key)],
    currentDate: new Date(cluster.clock.now()),
  };
  const verified = await jwtVerify(token, createPublicKey(key), options).catch(() => undefined);
  if (!verified) return undefined;
  const { payload } = verified;
  const claims = record(payload["kubernetes.io"]);
  const namespace = text(claims["namespace"]);
  const account = record(claims["serviceaccount"]);
  const name = text(account["name"]);
  if (!alive(cluster, { plural: "serviceaccounts", namespace }, account)) return undefined;
  for (const [kind, plural] of [
    ["pod", "pods"],
    ["secret", "secrets"],
    ["node", "nodes"],
  ] as const) {
    const bound = claims[kind];
    if (bound && !alive(cluster, { plural, namespace: kind === "node" ? "" : namespace }, record(bound)))
      return undefined;
  }
  const audience = payload.aud === undefined ? [] : [payload.aud].flat();
  return {
    user: {
      name: `system:serviceaccount:${namespace}:${name}`,
      uid: text(account["uid"]),
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
      ...extraOf(claims, text(payload.jti)),
    },
    audiences: audience.filter((a) => audiences.includes(a)),
  };
}

function extraOf(claims: Json, id: string): Pick<User, "extra"> {
  const pod = at(claims, "pod");
  return {
    extra: {
      "authentication.kubernetes.io/credential-id": [`JTI=${id}`],
      ...(pod
        ? {
            "authentication.kubernetes.io/pod-name": [text(at(pod, "name"))],
            "authentication.kubernetes.io/pod-uid": [text(at(pod, "uid"))],
          }
        : {}),
    },
  };
}

function alive(cluster: Cluster, place: { plural: string; namespace: string }, reference: Json): boolean {
  const key = {
    cluster: cluster.name,
    resource: `/${place.plural}`,
    namespace: place.namespace,
    name: text(reference["name"]),
  };
  return cluster.store.get(key)?.object.metadata.uid === reference["uid"];
}

function signingKey(pem: string): KeyObject {
  return createPrivateKey(pem);
}

function algorithm(key: KeyObject): string {
  if (key.asymmetricKeyType === "rsa") return "RS256";
  const curve = key.asymmetricKeyDetails?.namedCurve;
  return curve === "secp384r1" ? "ES384" : curve === "secp521r1" ? "ES512" : "ES256";
}
