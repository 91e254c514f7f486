import { expect, test } from "vitest";
import type { Json } from "../json/json.ts";
import { ISSUER, refusalOf, requests, type Row } from "../testing/node-attempts.ts";
import { nodeRestriction } from "./node-restriction.ts";

const node = (spec: Json = {}, metadata: Json = {}): Json => ({ metadata: { name: "n1", ...metadata }, spec });
const labelled = (now: Json, was: Json = {}): Row => ({
  name: "n1",
  object: node({}, { labels: now }),
  old: node({}, { labels: was }),
});
const claim = (status: Json, more: Json = {}, metadata: Json = {}): Json => ({
  metadata: { name: "c", ...metadata },
  spec: {},
  status,
  ...more,
});
const PVC = 'node "n1" is not allowed to update fields other than status.quantity and status.conditions';
const token = (bound: Json | undefined, more: Json = {}): Row => ({
  operation: "CREATE",
  name: "robot",
  object: {
    spec: {
      ...(bound
        ? { boundObjectRef: { apiVersion: "v1", kind: "Pod", uid: `uid-${String(bound["name"])}`, ...bound } }
        : {}),
      ...more,
    },
  },
});
const wants = (name: string, audiences: readonly string[], may?: string): Row => ({
  ...token({ name }, { audiences }),
  ...(may ? { may } : {}),
});
const unfound = (audience: string): string =>
  `audience "${audience}" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`;
const CSRS = "certificatesigningrequests@certificates.k8s.io";
const csr = (node: string, signerName = "kubernetes.io/kubelet-serving"): Row => ({
  operation: "CREATE",
  object: {
    spec: {
      signerName,
      get request() {
        return requests[node] ?? "x";
      },
    },
  },
});
const LEASES = "leases@coordination.k8s.io";
const LEASE = "can only access node lease with the same name as the requesting node";

const ROWS: readonly (readonly [string, string, Row, string | undefined])[] = [
  ["the own node", "nodes", { operation: "CREATE", object: node() }, undefined],
  [
    "another node",
    "nodes",
    { operation: "CREATE", object: { metadata: { name: "n2" } } },
    'node "n1" is not allowed to modify node "n2"',
  ],
  [
    "another node's deletion",
    "nodes",
    { operation: "DELETE", name: "n2", old: { metadata: { name: "n2" } } },
    'node "n1" is not allowed to modify node "n2"',
  ],
  ["the own node's deletion", "nodes", { operation: "DELETE", name: "n1", old: node() }, undefined],
  [
    "the own node with a source",
    "nodes",
    { operation: "CREATE", object: node({ configSource: {} }) },
    'node "n1" is not allowed to create pods with a non-nil configSource',
  ],
  [
    "a new source",
    "nodes",
    { name: "n1", object: node({ configSource: { a: 1 } }), old: node() },
    'node "n1" is not allowed to update configSource to a new non-nil configSource',
  ],
  [
    "the source that was",
    "nodes",
    { name: "n1", object: node({ configSource: { a: 1 } }), old: node({ configSource: { a: 1 } }) },
    undefined,
  ],
  ["no source any more", "nodes", { name: "n1", object: node(), old: node({ configSource: { a: 1 } }) }, undefined],
  ["own taints at the start", "nodes", { operation: "CREATE", object: node({ taints: [{}] }) }, undefined],
  [
    "other taints",
    "nodes",
    { name: "n1", object: node({ taints: [{}] }), old: node() },
    'node "n1" is not allowed to modify taints',
  ],
  [
    "the taints that are there",
    "nodes",
    { name: "n1", object: node({ taints: [{ key: "a" }] }), old: node({ taints: [{ key: "a" }] }) },
    undefined,
  ],
  [
    "a label that is no prefix",
    "nodes",
    { name: "n1", object: node({}, { labels: { "k8s.iox": "a" } }), old: node() },
    undefined,
  ],
  ["no taints in other words", "nodes", { name: "n1", object: node({ taints: [] }), old: node() }, undefined],
  [
    "other owners",
    "nodes",
    { name: "n1", object: node({}, { ownerReferences: [{}] }), old: node() },
    'node "n1" is not allowed to modify ownerReferences',
  ],
  [
    "no owners in other words",
    "nodes",
    { name: "n1", object: node({}, { ownerReferences: [] }), old: node() },
    undefined,
  ],
  ["a status", "nodes/status", { name: "n1", object: node(), old: node() }, undefined],
  [
    "forbidden labels at the start",
    "nodes",
    {
      operation: "CREATE",
      object: node({}, { labels: { "b.kubernetes.io/x": "", "a.k8s.io/x": "", plain: "", "example.com/x": "" } }),
    },
    'node "n1" is not allowed to set the following labels: a.k8s.io/x, b.kubernetes.io/x',
  ],
  ...[
    "plain",
    "example.com/x",
    "notkubernetes.io/x",
    "kubelet.kubernetes.io/x",
    "a.node.kubernetes.io/x",
    "node.kubernetes.io/x",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
  ].map((label) => [`the label ${label}`, "nodes", labelled({ [label]: "a" }), undefined] as const),
  ...[
    "kubernetes.io/x",
    "k8s.io/x",
    "a.kubernetes.io/x",
    "a.k8s.io/x",
    "node-restriction.kubernetes.io/x",
    "a.node-restriction.kubernetes.io/x",
    "kubernetes.io/role",
  ].map(
    (label) =>
      [`the label ${label}`, "nodes", labelled({ [label]: "a" }), `is not allowed to modify labels: ${label}`] as const,
  ),
  [
    "a forbidden label that changes",
    "nodes",
    labelled({ "k8s.io/x": "a" }, { "k8s.io/x": "b" }),
    "is not allowed to modify labels: k8s.io/x",
  ],
  [
    "a forbidden label that goes",
    "nodes",
    labelled({}, { "k8s.io/x": "b" }),
    "is not allowed to modify labels: k8s.io/x",
  ],
  ["a forbidden label that remains", "nodes", labelled({ "k8s.io/x": "b", a: "b" }, { "k8s.io/x": "b" }), undefined],
  [
    "two forbidden labels",
    "nodes",
    labelled({ "k8s.io/z": "b", "k8s.io/a": "b" }),
    "is not allowed to modify labels: k8s.io/a, k8s.io/z",
  ],
  ["a claim", "persistentvolumeclaims", { operation: "CREATE", object: claim({}) }, "may only update PVC status"],
  [
    "a kubelet's status of a claim",
    "persistentvolumeclaims/status",
    {
      object: claim(
        { capacity: 1, conditions: 1, allocatedResources: 1, allocatedResourceStatuses: 1 },
        {},
        { resourceVersion: "2", managedFields: [1] },
      ),
      old: claim({ capacity: 2 }, {}, { resourceVersion: "1" }),
    },
    undefined,
  ],
  ["the phase of a claim", "persistentvolumeclaims/status", { object: claim({ phase: "Bound" }), old: claim({}) }, PVC],
  [
    "labels of a claim",
    "persistentvolumeclaims/status",
    { object: claim({}, {}, { labels: { a: "b" } }), old: claim({}) },
    PVC,
  ],
  [
    "the spec of a claim",
    "persistentvolumeclaims/status",
    { object: claim({}, { spec: { a: 1 } }), old: claim({}) },
    PVC,
  ],
  ["an account", "serviceaccounts", { operation: "CREATE", object: {} }, undefined],
  ["an update of a token", "serviceaccounts/token", { object: {} }, undefined],
  ["a token for no pod", "serviceaccounts/token", token(undefined), "node requested token not bound to a pod"],
  ...[{ apiVersion: "v2" }, { kind: "Secret" }, { name: "" }].map(
    (more) =>
      [
        `a token for ${JSON.stringify(more)}`,
        "serviceaccounts/token",
        token({ name: "own", ...more }),
        "node requested token not bound to a pod",
      ] as const,
  ),
  [
    "a token for a pod without an id",
    "serviceaccounts/token",
    token({ name: "own", uid: "" }),
    "node requested token with a pod binding without a uid",
  ],
  [
    "a token for an earlier pod",
    "serviceaccounts/token",
    token({ name: "own", uid: "old" }),
    "the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated",
  ],
  ["a token for no such pod", "serviceaccounts/token", token({ name: "none" }), 'pods "none" not found'],
  [
    "a token for another's pod",
    "serviceaccounts/token",
    token({ name: "other" }),
    "node requested token bound to a pod scheduled on a different node",
  ],
  [
    "a token for two audiences",
    "serviceaccounts/token",
    wants("own", ["vault", "x"]),
    "node may only request 0 or 1 audiences",
  ],
  ["a token for an audience of the pod", "serviceaccounts/token", wants("own", ["vault"]), undefined],
  ["a token for the audience of an inline driver", "serviceaccounts/token", wants("own", ["inline"]), undefined],
  ["a token for the audience of a claim's driver", "serviceaccounts/token", wants("own", ["claimed"]), undefined],
  [
    "a token for the audience of a driver of the pod's own claim",
    "serviceaccounts/token",
    wants("own", ["ephemeral"]),
    undefined,
  ],
  [
    "a token for the audience of a driver that it does not use",
    "serviceaccounts/token",
    wants("own", ["unused"]),
    unfound("unused"),
  ],
  ["a token for an audience of another pod", "serviceaccounts/token", wants("plain", ["vault"]), unfound("vault")],
  ["a token for the server", "serviceaccounts/token", wants("plain", [ISSUER]), undefined],
  ["a token without a bound object", "serviceaccounts/token", token({ name: "plain" }), undefined],
  ["a token for the server where no volume wants one", "serviceaccounts/token", token({ name: "bare" }), unfound("")],
  [
    "a token for an audience that the node may ask for",
    "serviceaccounts/token",
    wants("bare", ["extra"], "extra ns/robot"),
    undefined,
  ],
  [
    "a token for an audience that the node may ask for of another",
    "serviceaccounts/token",
    wants("bare", ["extra"], "extra ns/other"),
    unfound("extra"),
  ],
  [
    "the own lease",
    LEASES,
    { operation: "CREATE", namespace: "kube-node-lease", object: { metadata: { name: "n1" } } },
    undefined,
  ],
  [
    "another's lease",
    LEASES,
    { operation: "CREATE", namespace: "kube-node-lease", object: { metadata: { name: "n2" } } },
    LEASE,
  ],
  [
    "the deletion of another's lease",
    LEASES,
    { operation: "DELETE", namespace: "kube-node-lease", old: { metadata: { name: "n2" } } },
    LEASE,
  ],
  [
    "a lease elsewhere",
    LEASES,
    { operation: "CREATE", namespace: "ns", object: { metadata: { name: "n1" } } },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ["the own CSINode", "csinodes@storage.k8s.io", { name: "n1", object: {} }, undefined],
  [
    "another's CSINode",
    "csinodes@storage.k8s.io",
    { name: "n2", object: {} },
    "can only access CSINode with the same name as the requesting node",
  ],
  ["a request for the own certificate", CSRS, csr("n1"), undefined],
  ["a request for another's certificate", CSRS, csr("n2"), "can only create a node CSR with CN=system:node:n1"],
  [
    "a request for another's client certificate",
    CSRS,
    csr("n2", "kubernetes.io/kube-apiserver-client-kubelet"),
    "can only create a node CSR with CN=system:node:n1",
  ],
  ["a request to another signer", CSRS, csr("n2", "example.com/x"), undefined],
  ["an update of a request", CSRS, { ...csr("n2"), operation: "UPDATE" }, undefined],
  [
    "a request that cannot be read",
    CSRS,
    csr("none"),
    "unable to parse csr: PEM block type must be CERTIFICATE REQUEST",
  ],
  ["another kind", "configmaps", { object: {} }, undefined],
];

test.each(ROWS)("NodeRestriction allows or refuses %s (%s) to a kubelet", async (_what, what, row, message) => {
  expect(await refusalOf(what, row)).toBe(message);
});

test("NodeRestriction restricts kubelets alone, and a kubelet of no node writes nothing", async () => {
  const row: Row = { operation: "CREATE", object: { metadata: { name: "n2" } } };
  expect(await refusalOf("nodes", { ...row, user: { name: "jane", groups: ["system:nodes"] } })).toBeUndefined();
  const why = 'could not determine node from user "system:node:"';
  for (const what of ["nodes", "configmaps"]) {
    expect(await refusalOf(what, { ...row, user: { name: "system:node:", groups: ["system:nodes"] } })).toBe(why);
  }
});

test.each<[string, string, string, boolean]>([
  ["system:node:n1", "nodes", "mutate", true],
  ["system:node:n1", "nodes", "validate", false],
  ["system:node:n1", "configmaps", "mutate", false],
  ["system:node:", "configmaps", "mutate", true],
  ["jane", "nodes", "mutate", false],
])("NodeRestriction checks %s writing %s in phase %s: %s", (name, plural, phase, concerned) => {
  const call = { resource: { group: "", plural }, user: { name, groups: ["system:nodes"] } };
  type Concerns = (call: unknown, operation: string, phase: string) => boolean;
  expect((nodeRestriction.concerns as unknown as Concerns)(call, "CREATE", phase)).toBe(concerned);
  expect((nodeRestriction.concerns as unknown as Concerns)(call, "CONNECT", phase)).toBe(false);
});
