import { expect } from "vitest";
import { createRequest } from "@causeway/foundation";
import type { Attempt } from "../contract/admission.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { Json } from "../json/json.ts";
import { clusterWith } from "./objects.ts";
import type { Attributes } from "../contract/attributes.ts";
import { nodeRestriction } from "../auth/node-restriction.ts";

export const ISSUER = "https://kubernetes.default.svc";
const NODE = { name: "system:node:n1", groups: ["system:nodes"] };
const named = (name: string, more: Json = {}): Json => ({ name, namespace: "ns", uid: `uid-${name}`, ...more });
export const projected = (audience: string): Json => ({
  projected: { sources: [{ configMap: {} }, { serviceAccountToken: audience ? { audience } : {} }] },
});

export const requests: Record<string, string> = {};
let ready: Promise<Cluster> | undefined;

async function opened(): Promise<Cluster> {
  const cluster = await clusterWith({
    "/pods": [
      {
        metadata: named("own"),
        spec: {
          nodeName: "n1",
          volumes: [
            projected("vault"),
            { csi: { driver: "inline.csi" } },
            { persistentVolumeClaim: { claimName: "claim" } },
            { name: "e", ephemeral: {} },
          ],
        },
      },
      { metadata: named("plain"), spec: { nodeName: "n1", volumes: [projected("")] } },
      { metadata: named("bare"), spec: { nodeName: "n1" } },
      { metadata: named("other"), spec: { nodeName: "n2" } },
    ],
    "/nodes": [{ metadata: { name: "n1", uid: "node-uid" } }],
    "/persistentvolumeclaims": [
      { metadata: named("claim"), spec: { volumeName: "volume" } },
      { metadata: named("own-e"), spec: { volumeName: "volume2" } },
    ],
    "/persistentvolumes": [
      { metadata: { name: "volume" }, spec: { csi: { driver: "claimed.csi" } } },
      { metadata: { name: "volume2" }, spec: { csi: { driver: "ephemeral.csi" } } },
    ],
    "storage.k8s.io/csidrivers": ["inline", "claimed", "ephemeral", "unused"].map((name) => ({
      metadata: { name: `${name}.csi` },
      spec: { tokenRequests: [{ audience: "x" }, { audience: name }] },
    })),
  });
  for (const name of ["n1", "n2"]) {
    requests[name] = Buffer.from(
      (await createRequest({ commonName: `system:node:${name}`, organizations: ["system:nodes"] })).request,
    ).toString("base64");
  }
  return cluster;
}

/** One attempt of the kubelet of node n1. */
export interface Row {
  readonly operation?: string;
  readonly object?: Json;
  readonly old?: Json;
  readonly name?: string;
  readonly namespace?: string;
  readonly user?: { name: string; groups: string[] };
  readonly may?: string;
}

/** "plural/subresource@group" */
function attemptOf(
  cluster: Cluster,
  what: string,
  { operation = "UPDATE", object, old, name = "", namespace = "ns", user = NODE, may }: Row,
): Attempt {
  const [resource = "", group = ""] = what.split("@");
  const [plural = "", subresource = ""] = resource.split("/");
  const allows = (a: Attributes): boolean =>
    a.verb === "request-serviceaccounts-token-audience" &&
    `${a.plural} ${a.namespace}/${a.name}` === may &&
    `${a.group}/${a.version}` === "/v1";
  const call = {
    resource: { group, plural },
    subresource,
    name,
    namespace,
    user,
    cluster: { ...cluster, issuer: ISSUER, access: { allows } },
  };
  const whole = (given: Json | undefined) => given && { metadata: {}, ...given };
  return { call, operation, object: whole(object), old: whole(old) } as unknown as Attempt;
}

/** Why NodeRestriction refuses an attempt on "plural/subresource@group". */
export async function refusalOf(what: string, row: Row): Promise<string | undefined> {
  ready ??= opened();
  const attempt = attemptOf(await ready, what, row);
  try {
    expect(await nodeRestriction.mutate?.(attempt)).toBe(attempt.object);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^.*? is forbidden: /, "");
  }
}
