import { expect, test } from "vitest";
import type { Json } from "../json/json.ts";
import { projected, refusalOf, type Row } from "../testing/node-attempts.ts";

const owner = (more: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "Node",
  name: "n1",
  uid: "node-uid",
  controller: true,
  ...more,
});
function mirror(spec: Json = {}, metadata: Json = {}): Row {
  const annotations = { "kubernetes.io/config.mirror": "x" };
  return {
    operation: "CREATE",
    object: {
      metadata: { name: "m", annotations, ownerReferences: [owner()], ...metadata },
      spec: { nodeName: "n1", ...spec },
    },
  };
}
const refers = (kind: string): string => `node "n1" can not create pods that reference ${kind}`;
const ONLY = 'node "n1" can only create pods with';
const container = (more: Json): Json => ({ containers: [more] });
const status = (more: Json, nodeName = "n1", metadata: Json = {}): Json => ({
  metadata: { name: "p", ...metadata },
  spec: { nodeName },
  status: more,
});
const SELF = "spec.nodeName set to itself";

const ROWS: readonly (readonly [string, string, Row, string | undefined])[] = [
  ["a mirror pod", "pods", mirror(), undefined],
  [
    "a pod that is none",
    "pods",
    mirror({}, { annotations: {} }),
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ],
  ["a mirror pod of another node", "pods", mirror({ nodeName: "n2" }), `${ONLY} ${SELF}`],
  [
    "a mirror pod with two owners",
    "pods",
    mirror({}, { ownerReferences: [owner(), owner()] }),
    `${ONLY} a single owner reference set to itself`,
  ],
  [
    "a mirror pod without an owner",
    "pods",
    mirror({}, { ownerReferences: [] }),
    `${ONLY} an owner reference set to itself`,
  ],
  ...[{ apiVersion: "v2" }, { kind: "Pod" }, { name: "n2" }].map(
    (more) =>
      [
        `a mirror pod of the owner ${JSON.stringify(more)}`,
        "pods",
        mirror({}, { ownerReferences: [owner(more)] }),
        `${ONLY} an owner reference set to itself`,
      ] as const,
  ),
  [
    "a mirror pod without a controller",
    "pods",
    mirror({}, { ownerReferences: [owner({ controller: false })] }),
    `${ONLY} a controller owner reference set to itself`,
  ],
  [
    "a mirror pod that blocks its owner",
    "pods",
    mirror({}, { ownerReferences: [owner({ blockOwnerDeletion: true })] }),
    'node "n1" must not set blockOwnerDeletion on an owner reference',
  ],
  [
    "a mirror pod that does not block",
    "pods",
    mirror({}, { ownerReferences: [owner({ blockOwnerDeletion: false })] }),
    undefined,
  ],
  [
    "a mirror pod of an earlier node",
    "pods",
    mirror({}, { ownerReferences: [owner({ uid: "old" })] }),
    "node n1 UID mismatch: expected old got node-uid",
  ],
  ["a mirror pod with an account", "pods", mirror({ serviceAccountName: "a" }), refers("serviceaccounts")],
  ...(
    [
      ["secrets", { volumes: [{ secret: {} }] }],
      ["secrets", { volumes: [{ projected: { sources: [{ secret: {} }] } }] }],
      ["secrets", { initContainers: [{ env: [{ valueFrom: { secretKeyRef: {} } }] }] }],
      ["secrets", { ephemeralContainers: [{ envFrom: [{ secretRef: {} }] }] }],
      ["secrets", { imagePullSecrets: [{ name: "a" }] }],
      ["configmaps", { volumes: [{ configMap: {} }] }],
      ["configmaps", container({ env: [{ valueFrom: { configMapKeyRef: {} } }] })],
      ["configmaps", container({ envFrom: [{ configMapRef: {} }] })],
      [
        "serviceaccounts",
        {
          volumes: [projected("")].map((v) => ({
            projected: { sources: ((v["projected"] as Json)["sources"] as Json[]).slice(1) },
          })),
        },
      ],
      ["clustertrustbundles", { volumes: [{ projected: { sources: [{ clusterTrustBundle: {} }] } }] }],
      ["persistentvolumeclaims", { volumes: [{ persistentVolumeClaim: {} }] }],
      ["persistentvolumeclaims", { volumes: [{ ephemeral: {} }] }],
      ["csidrivers", { volumes: [{ csi: {} }] }],
      ["resourceclaims", { resourceClaims: [{}] }],
    ] as const
  ).map(([kind, spec]) => [`a mirror pod with ${JSON.stringify(spec)}`, "pods", mirror(spec), refers(kind)] as const),
  [
    "a mirror pod with a plain volume",
    "pods",
    mirror({ volumes: [{ hostPath: {} }], containers: [{ env: [{ value: "x" }] }] }),
    undefined,
  ],
  ["the deletion of an own pod", "pods", { operation: "DELETE", old: status({}) }, undefined],
  [
    "the deletion of another's pod",
    "pods",
    { operation: "DELETE", old: status({}, "n2") },
    `node "n1" can only delete pods with ${SELF}`,
  ],
  [
    "an update of an own pod",
    "pods",
    { object: status({}), old: status({}) },
    'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  ],
  ["the status of an own pod", "pods/status", { object: status({ phase: "Running" }), old: status({}) }, undefined],
  [
    "the status of another's pod",
    "pods/status",
    { object: status({}), old: status({}, "n2") },
    `node "n1" can only update pod status for pods with ${SELF}`,
  ],
  [
    "labels by way of a status",
    "pods/status",
    { object: status({}, "n1", { labels: { a: "b" } }), old: status({}) },
    'node "n1" cannot update labels through pod status',
  ],
  [
    "claims by way of a status",
    "pods/status",
    { object: status({ resourceClaimStatuses: [{}] }), old: status({}) },
    'node "n1" cannot update resource claim statues',
  ],
  [
    "the same claims in a status",
    "pods/status",
    {
      object: status({ resourceClaimStatuses: [{ name: "a" }] }),
      old: status({ resourceClaimStatuses: [{ name: "a" }] }),
    },
    undefined,
  ],
  [
    "an extended claim by way of a status",
    "pods/status",
    { object: status({ extendedResourceClaimStatus: {} }), old: status({}) },
    'node "n1" cannot update extended resource claim status',
  ],
  [
    "the same extended claim in a status",
    "pods/status",
    { object: status({ extendedResourceClaimStatus: {} }), old: status({ extendedResourceClaimStatus: {} }) },
    undefined,
  ],
  ["the eviction of an own pod", "pods/eviction", { operation: "CREATE", name: "own", object: {} }, undefined],
  [
    "the eviction of another's pod",
    "pods/eviction",
    { operation: "CREATE", name: "other", object: {} },
    `node n1 can only evict pods with ${SELF}`,
  ],
  [
    "the eviction of a pod that its body names",
    "pods/eviction",
    { operation: "CREATE", object: { metadata: { name: "other" } } },
    `node n1 can only evict pods with ${SELF}`,
  ],
  [
    "the eviction of no pod",
    "pods/eviction",
    { operation: "CREATE", name: "none", object: {} },
    'pods "none" not found',
  ],
  [
    "another subresource of a pod",
    "pods/exec",
    { operation: "CREATE", object: {} },
    `unexpected pod subresource "exec", only 'status' and 'eviction' are allowed`,
  ],
];

test.each(ROWS)("NodeRestriction allows or refuses %s (%s) to a kubelet", async (_what, what, row, message) => {
  expect(await refusalOf(what, row)).toBe(message);
});
