import { afterAll, beforeAll, expect, test } from "vitest";
import type { Cluster } from "../contract/cluster.ts";
import type { Json } from "../json/json.ts";
import { clusterWith } from "../testing/objects.ts";
import type { Attributes, Decision } from "../contract/attributes.ts";
import { nodeDecision, nodeNameOf } from "./node.ts";
import { fieldRequirements } from "../contract/attribute-selectors.ts";

const named = (name: string, namespace = "ns"): Json => ({ name, namespace });

function pod(name: string, nodeName: string, spec: Json, annotations?: Json): Json {
  return {
    metadata: { ...named(name), ...(annotations ? { annotations } : {}) },
    spec: { ...(nodeName ? { nodeName } : {}), ...spec },
  };
}

const env = (name: string): Json => ({
  env: [
    { valueFrom: { secretKeyRef: { name: `${name}-secret-key` } } },
    { valueFrom: { configMapKeyRef: { name: `${name}-map-key` } } },
    { value: "x" },
  ],
  envFrom: [{ secretRef: { name: `${name}-secret` } }, { configMapRef: { name: `${name}-map` } }],
});
const OLD_KINDS = ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"];

const PODS = [
  pod("p1", "node1", {
    serviceAccountName: "account1",
    imagePullSecrets: [{ name: "pull" }],
    containers: [env("main")],
    initContainers: [env("init")],
    ephemeralContainers: [env("debug")],
    volumes: [
      { name: "a", secret: { secretName: "volume-secret" } },
      { name: "b", configMap: { name: "volume-map" } },
      {
        name: "c",
        projected: { sources: [{ secret: { name: "projected-secret" } }, { configMap: { name: "projected-map" } }] },
      },
      { name: "d", persistentVolumeClaim: { claimName: "claim1" } },
      { name: "e", ephemeral: {} },
      { name: "f", csi: { nodePublishSecretRef: { name: "csi-secret" } } },
      { name: "g", azureFile: { secretName: "azure-secret" } },
      ...OLD_KINDS.map((kind) => ({ name: kind, [kind]: { secretRef: { name: `${kind}-secret` } } })),
    ],
  }),
  pod("p2", "node2", {
    serviceAccountName: "account2",
    containers: [env("other")],
    volumes: [{ persistentVolumeClaim: { claimName: "claim2" } }],
  }),
  pod("waiting", "", { serviceAccountName: "account3", containers: [env("waiting")] }),
  pod(
    "mirror",
    "node1",
    { serviceAccountName: "account4", containers: [env("mirror")] },
    { "kubernetes.io/config.mirror": "x" },
  ),
];
const claimRef = named("claim1");
const reference = (name: string, namespace?: string): Json =>
  namespace === undefined ? { name } : { name, namespace };
const VOLUMES: Json[] = [
  {
    metadata: { name: "volume1" },
    spec: {
      claimRef,
      csi: {
        nodePublishSecretRef: reference("publish", "csi"),
        nodeStageSecretRef: reference("stage", "csi"),
        nodeExpandSecretRef: reference("expand", "csi"),
        controllerPublishSecretRef: reference("control", "csi"),
      },
    },
  },
  {
    metadata: { name: "volume2" },
    spec: { claimRef: named("claim2"), csi: { nodeStageSecretRef: reference("stage2", "csi") } },
  },
  { metadata: { name: "free" }, spec: { csi: { nodeStageSecretRef: reference("stage3", "csi") } } },
  { metadata: { name: "old" }, spec: { claimRef, rbd: { secretRef: reference("rbd-volume") } } },
  { metadata: { name: "older" }, spec: { claimRef, cephfs: { secretRef: reference("ceph-volume", "ceph") } } },
  { metadata: { name: "azure" }, spec: { claimRef, azureFile: { secretName: "azure-volume" } } },
  {
    metadata: { name: "azure2" },
    spec: { claimRef, azureFile: { secretName: "azure-volume2", secretNamespace: "azure" } },
  },
];

let cluster: Cluster;
beforeAll(async () => {
  cluster = await clusterWith({
    "/pods": PODS,
    "/persistentvolumes": VOLUMES,
    "storage.k8s.io/volumeattachments": [
      { metadata: { name: "attached1" }, spec: { nodeName: "node1" } },
      { metadata: { name: "attached2" }, spec: { nodeName: "node2" } },
    ],
  });
});
afterAll(() => cluster.store.close());

const NODE1 = { name: "system:node:node1", groups: ["system:nodes"] };

function decide(asked: string, more: Partial<Attributes> = {}): Decision {
  const [verb = "", what = "", path = ""] = asked.split(" ");
  const [resource = "", group = ""] = what.split("@");
  const [plural = "", subresource = ""] = resource.split("/");
  const [namespace = "", name = ""] = path.split("/");
  return nodeDecision(cluster, {
    user: NODE1,
    verb,
    group,
    version: "v1",
    plural,
    subresource,
    namespace,
    name,
    ...more,
  });
}

const NO_RELATION = "no relationship found between node 'node1' and this object";
const CLAIM = "persistentvolumeclaims";
const LEASES = "leases@coordination.k8s.io";
const CSI = "csinodes@storage.k8s.io";
const CSRS = "certificatesigningrequests@certificates.k8s.io";

/**
 * What is requested, as "verb resource/subresource@group namespace/name", and why it is refused; true where it is
 * allowed.
 */
const DECISIONS: readonly (readonly [string, true | string])[] = [
  ...[
    "pull",
    "main-secret",
    "main-secret-key",
    "init-secret",
    "init-secret-key",
    "debug-secret",
    "debug-secret-key",
    "volume-secret",
    "projected-secret",
    "csi-secret",
    "azure-secret",
    "rbd-volume",
    "azure-volume",
    ...OLD_KINDS.map((k) => `${k}-secret`),
  ].map((name) => [`get secrets ns/${name}`, true] as const),
  ...["main-map", "main-map-key", "init-map", "debug-map", "volume-map", "projected-map"].map(
    (name) => [`get configmaps ns/${name}`, true] as const,
  ),
  ...["publish", "stage", "expand"].map((name) => [`get secrets csi/${name}`, true] as const),
  ["get secrets ceph/ceph-volume", true],
  ["get secrets azure/azure-volume2", true],
  ["get secrets csi/control", NO_RELATION],
  ["get secrets csi/stage2", NO_RELATION],
  ["get secrets csi/stage3", NO_RELATION],
  ["get secrets ns/ceph-volume", NO_RELATION],
  ["get secrets ns/azure-volume2", NO_RELATION],
  ["get secrets ns/publish", NO_RELATION],
  ["get secrets ns/other-secret", NO_RELATION],
  ["get secrets ns/waiting-secret", NO_RELATION],
  ["get secrets ns/mirror-secret", NO_RELATION],
  ["get secrets ns/main-map", NO_RELATION],
  ["get secrets other/main-secret", NO_RELATION],
  ["get configmaps ns/main-secret", NO_RELATION],
  ["get configmaps ns/other-map", NO_RELATION],
  ["get persistentvolumeclaims ns/p1-a", NO_RELATION],
  ["list secrets ns/main-secret", true],
  ["watch secrets ns/main-secret", true],
  ["list secrets ns", "No Object name found"],
  ["list secrets", "can only read namespaced object of this type"],
  ["update secrets ns/main-secret", "can only read resources of this type"],
  ["get secrets/status ns/main-secret", "cannot read subresource"],
  ["delete configmaps ns/main-map", "can only read resources of this type"],
  [`get ${CLAIM} ns/claim1`, true],
  [`get ${CLAIM} ns/p1-e`, true],
  [`get ${CLAIM} ns/claim2`, NO_RELATION],
  [`get ${CLAIM} ns/main-secret`, NO_RELATION],
  [`list ${CLAIM} ns`, "can only get individual resources of this type"],
  [`get ${CLAIM}/other ns/claim1`, "cannot get subresource"],
  [`update ${CLAIM}/status ns/claim1`, true],
  [`patch ${CLAIM}/status ns/claim1`, true],
  [`patch ${CLAIM}/status ns/claim2`, NO_RELATION],
  [`get ${CLAIM}/status ns/claim1`, "can only get/update/patch this type"],
  ["get persistentvolumes /volume1", true],
  ["get persistentvolumes /volume2", NO_RELATION],
  ["get persistentvolumes /free", NO_RELATION],
  ["get persistentvolumes /none", NO_RELATION],
  ["list persistentvolumes", "can only get individual resources of this type"],
  ["get volumeattachments@storage.k8s.io /attached1", true],
  ["get volumeattachments@storage.k8s.io /attached2", NO_RELATION],
  ["get volumeattachments@storage.k8s.io /none", NO_RELATION],
  ["list volumeattachments@storage.k8s.io", "can only get individual resources of this type"],
  ["get serviceaccounts ns/account1", true],
  ["get serviceaccounts ns/account2", NO_RELATION],
  ["get serviceaccounts ns/account4", NO_RELATION],
  ["get serviceaccounts ns", "No Object name found"],
  ["list serviceaccounts ns", "can only create tokens for individual service accounts"],
  ["create serviceaccounts ns", "can only create tokens for individual service accounts"],
  ["create serviceaccounts/token ns", "can only create tokens for individual service accounts"],
  ["create serviceaccounts ns/account1", "can only create token subresource of serviceaccount"],
  ["get serviceaccounts/token ns/account1", "can only create tokens for individual service accounts"],
  ["create serviceaccounts/token ns/account1", true],
  ["create serviceaccounts/token ns/account2", NO_RELATION],
  ["get pods ns/p1", true],
  ["get pods ns/mirror", true],
  ["get pods ns/p2", NO_RELATION],
  ["get pods ns/waiting", NO_RELATION],
  ["get pods ns", "No Object name found"],
  ["list pods", "can only list/watch pods with spec.nodeName field selector"],
  ["list pods ns/p1", true],
  ["watch pods ns/p2", NO_RELATION],
  ["create pods ns", true],
  ["delete pods ns/p2", true],
  ["update pods ns/p1", ""],
  ["deletecollection pods ns", ""],
  ["update pods/status ns/p2", true],
  ["patch pods/status ns/p2", true],
  ["get pods/status ns/p1", ""],
  ["create pods/eviction ns/p2", true],
  ["get pods/eviction ns/p1", ""],
  ["get pods/log ns/p1", ""],
  ["create pods/exec ns/p1", ""],
  ["get nodes /node1", true],
  ["list nodes /node1", true],
  ["watch nodes /node1", true],
  ["get nodes /node2", "node 'node1' cannot read 'node2', only its own Node object"],
  ["list nodes", "node 'node1' cannot read all nodes, only its own Node object"],
  ["create nodes", true],
  ["update nodes /node2", true],
  ["patch nodes /node2", true],
  ["delete nodes /node1", ""],
  ["update nodes/status /node2", true],
  ["patch nodes/status /node2", true],
  ["get nodes/status /node1", ""],
  ["get nodes/proxy /node1", ""],
  [`create ${LEASES} kube-node-lease`, true],
  ...["get", "update", "patch", "delete"].map((verb) => [`${verb} ${LEASES} kube-node-lease/node1`, true] as const),
  [`get ${LEASES} kube-node-lease/node2`, "can only access node lease with the same name as the requesting node"],
  [`get ${LEASES} ns/node1`, 'can only access leases in the "kube-node-lease" system namespace'],
  [`list ${LEASES} kube-node-lease`, "can only get, create, update, patch, or delete a node lease"],
  [`create ${CSI}`, true],
  ...["get", "update", "patch", "delete"].map((verb) => [`${verb} ${CSI} /node1`, true] as const),
  [`get ${CSI} /node2`, "can only access CSINode with the same name as the requesting node"],
  [`list ${CSI}`, "can only get, create, update, patch, or delete a CSINode"],
  [`get csinodes/status@storage.k8s.io /node1`, "cannot authorize CSINode subresources"],
  ["create tokenreviews@authentication.k8s.io", true],
  ["create subjectaccessreviews@authorization.k8s.io", true],
  ["create localsubjectaccessreviews@authorization.k8s.io ns", true],
  ["get tokenreviews@authentication.k8s.io", ""],
  ...["get", "list", "watch"].flatMap((verb) =>
    [
      "services",
      CSRS,
      "clustertrustbundles@certificates.k8s.io",
      "endpointslices@discovery.k8s.io",
      "csidrivers@storage.k8s.io",
      "runtimeclasses@node.k8s.io",
    ].map((what) => [`${verb} ${what} ns/x`, true] as const),
  ),
  ["create services ns", ""],
  ["get services/status ns/x", ""],
  ...["create", "update", "patch"].flatMap((verb) => [
    [`${verb} events ns/x`, true] as const,
    [`${verb} events@events.k8s.io ns/x`, true] as const,
  ]),
  ["delete events ns/x", ""],
  ["get endpoints ns/x", true],
  ["list endpoints ns", ""],
  [`create ${CSRS}`, true],
  [`update ${CSRS} /x`, ""],
  ["list namespaces", ""],
  ["get deployments@apps ns/x", ""],
];

test.each(DECISIONS)("the Node authorizer answers a kubelet that asks to %s: %s", (asked, expected) => {
  const decision = decide(asked);
  expect(decision).toEqual(expected === true ? { allowed: true, reason: "" } : { allowed: false, reason: expected });
});

test.each<[string, string, boolean]>([
  ["list pods", "spec.nodeName=node1", true],
  ["watch pods", "spec.nodeName==node1", true],
  ["list pods", "spec.nodeName=node1,metadata.name=x", true],
  ["list pods", "spec.nodeName=node2", false],
  ["list pods", "spec.nodeName!=node1", false],
  ["list pods", "metadata.name=node1", false],
  ["deletecollection pods", "spec.nodeName=node1", false],
])("the kubelet of node1 may %s with %s: %s", (asked, selector, allowed) => {
  expect(decide(asked, { fieldRequirements: fieldRequirements(selector) ?? [] }).allowed).toBe(allowed);
});

test("a list with two values of spec.nodeName is not limited to a node", () => {
  const fieldRequirements = [{ key: "spec.nodeName", operator: "In", values: ["node1", "node2"] }] as const;
  expect(decide("list pods", { fieldRequirements }).allowed).toBe(false);
});

test.each<[string, readonly string[], string | undefined]>([
  ["system:node:a", ["system:nodes"], "a"],
  ["system:node:", ["system:nodes"], ""],
  ["system:node:a", ["system:authenticated"], undefined],
  ["system:nodes:a", ["system:nodes"], undefined],
  ["a", ["system:nodes"], undefined],
])("%s of %j is the kubelet of %j", (name, groups, expected) => {
  expect(nodeNameOf({ name, groups })).toBe(expected);
});

test("paths, other users and a kubelet without a node get no rights", () => {
  expect(decide("get", { path: "/healthz" })).toEqual({ allowed: false, reason: "" });
  expect(decide("get services ns/x", { path: "/healthz" })).toEqual({ allowed: false, reason: "" });
  expect(decide("get secrets ns/main-secret", { user: { name: "jane", groups: [] } })).toEqual({
    allowed: false,
    reason: "",
  });
  const nameless = { name: "system:node:", groups: ["system:nodes"] };
  for (const asked of ["get secrets ns/waiting-secret", "list services ns", "get nodes /"]) {
    expect(decide(asked, { user: nameless })).toEqual({
      allowed: false,
      reason: 'unknown node for user "system:node:"',
    });
  }
});
