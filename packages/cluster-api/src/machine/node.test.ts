import { describe, expect, test } from "vitest";
import { annotations, type Machine } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import { isNodeLabel, nodePatch } from "./node.ts";

const machine = (labels: Record<string, string>, taints?: Machine["spec"]["taints"]): Machine => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Machine",
  metadata: { name: "w-1", namespace: "default", labels },
  spec: {
    clusterName: "demo",
    bootstrap: {},
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "w-1" },
    ...(taints ? { taints } : {}),
  },
});
const uninitialized = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" } as const;
const fresh: Node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "w-1", labels: { "kubernetes.io/hostname": "w-1" } },
  spec: { taints: [uninitialized, { key: "other", effect: "NoExecute" }] },
};
const apply = (node: Node, of: Machine): Node => {
  const patch = nodePatch(node, of) as { metadata?: Node["metadata"]; spec?: Node["spec"] } | undefined;
  const labels = { ...node.metadata.labels, ...patch?.metadata?.labels } as Record<string, string | null>;
  return {
    ...node,
    metadata: {
      ...node.metadata,
      labels: Object.fromEntries(Object.entries(labels).filter((e): e is [string, string] => e[1] !== null)),
      annotations: { ...node.metadata.annotations, ...patch?.metadata?.annotations },
    },
    spec: { ...node.spec, ...patch?.spec },
  };
};

describe("labels that go over to Nodes", () => {
  test.each([
    ["node-role.kubernetes.io/worker", true],
    ["node-restriction.kubernetes.io/pool", true],
    ["team.node-restriction.kubernetes.io/pool", true],
    ["node.cluster.x-k8s.io/size", true],
    ["cluster.x-k8s.io/cluster-name", false],
    ["topology.kubernetes.io/zone", false],
    ["evilnode.cluster.x-k8s.io/size", false],
    ["plain", false],
  ])("%s: %s", (key, goes) => expect(isNodeLabel(key)).toBe(goes));
});

describe("a Node that has joined", () => {
  const role = { "node-role.kubernetes.io/worker": "" };
  test("gets its labels, and work, at once", () => {
    const node = apply(fresh, machine(role));
    expect(node.metadata.labels).toMatchObject(role);
    expect(node.spec?.taints).toEqual([{ key: "other", effect: "NoExecute" }]);
  });
  test("is left alone afterwards", () => {
    expect(nodePatch(apply(fresh, machine(role)), machine(role))).toBeUndefined();
  });
  test("loses a label that its Machine lost, and no other", () => {
    const node = apply(apply(fresh, machine(role)), machine({}));
    expect(node.metadata.labels).toEqual({ "kubernetes.io/hostname": "w-1" });
  });
  const named = (labels: unknown): Machine => {
    const of = machine(role);
    const text = typeof labels === "string" ? labels : JSON.stringify(labels);
    return { ...of, metadata: { ...of.metadata, annotations: { [annotations.nodeLabels]: text } } };
  };
  test("gets labels of any domain by annotation, and follows their changes", () => {
    const labelled = { ...fresh, metadata: { ...fresh.metadata, labels: { "kubernetes.io/hostname": "w-1", p: "1" } } };
    const node = apply(labelled, named({ p: "2", q: "1" }));
    expect(node.metadata.labels).toEqual({ "kubernetes.io/hostname": "w-1", ...role, p: "2", q: "1" });
    expect(nodePatch(node, named({ p: "2", q: "1" }))).toBeUndefined();
    const later = apply(node, named({ p: null }));
    expect(later.metadata.labels).toEqual({ "kubernetes.io/hostname": "w-1", ...role });
    expect(nodePatch(later, named({ p: null }))).toBeUndefined();
  });
  test.each(["{", "[]", "null", '{"p":1}'])("ignores an annotation with labels that is %s", (text) => {
    expect(apply(fresh, named(text)).metadata.labels).toEqual({ "kubernetes.io/hostname": "w-1", ...role });
  });
  const always = { key: "gpu", effect: "NoSchedule", propagation: "Always" } as const;
  const once = { key: "warming", effect: "NoSchedule", propagation: "OnInitialization" } as const;
  test("gets taints of both kinds when it is new", () => {
    const keys = apply(fresh, machine({}, [always, once])).spec?.taints?.map(({ key }) => key);
    expect(keys).toEqual(["other", "gpu", "warming"]);
  });
  test("keeps only the lasting ones later", () => {
    const node = apply(fresh, machine({}, [always, once]));
    const cleaned = { ...node, spec: { ...node.spec, taints: [] } };
    expect(apply(cleaned, machine({}, [always, once])).spec?.taints?.map(({ key }) => key)).toEqual(["gpu"]);
  });
  test("is avoided by new pods while a rollout replaces its Machine, and not after a rollback", () => {
    const outdated = { key: "node.cluster.x-k8s.io/outdated-revision", effect: "PreferNoSchedule" };
    const joined = apply(fresh, machine({}));
    expect(nodePatch(joined, machine({}), true)).toMatchObject({
      spec: { taints: [{ key: "other", effect: "NoExecute" }, outdated] },
    });
    const avoided = { ...joined, spec: { taints: [...(joined.spec?.taints ?? []), outdated] } } as Node;
    expect(nodePatch(avoided, machine({}), true)).toBeUndefined();
    expect(apply(avoided, machine({})).spec?.taints).toEqual([{ key: "other", effect: "NoExecute" }]);
  });
  test("loses a lasting taint that its Machine lost", () => {
    const node = apply(fresh, machine({}, [always]));
    expect(apply(node, machine({}, [])).spec?.taints?.map(({ key }) => key)).toEqual(["other"]);
  });
});
