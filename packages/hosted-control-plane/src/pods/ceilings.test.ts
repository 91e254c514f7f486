import type { KubeObject, Namespace } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import { neighboursOf } from "./ceilings.ts";
import type { OtherControlPlanes } from "./observed.ts";
import type { Ceilings } from "./options.ts";
import { idAnnotation } from "./tenant.ts";
import { PlayedCluster } from "./testing/played-cluster.ts";
import { own, specOf } from "./testing/spec.ts";

const GIB = 2 ** 30;
const none: OtherControlPlanes = { controlPlanes: 0, storage: 0 };
const exceeded = { code: "PODS_CEILING_EXCEEDED", actor: "user" };

describe("within the operator's ceilings a control plane is permitted or refused", () => {
  const rows: [string, Ceilings, Partial<ControlPlaneSpec>, OtherControlPlanes, boolean][] = [
    ["of the largest allowed size", { size: "Medium" }, { pods: own({ size: "Medium" }) }, none, true],
    ["larger than allowed", { size: "Medium" }, { pods: own({ size: "Large" }) }, none, false],
    ["with as many API servers as allowed", { replicas: 2 }, {}, none, true],
    ["with more API servers than allowed", { replicas: 1 }, {}, none, false],
    ["with volumes as large as allowed", { storage: "8Gi" }, {}, none, true],
    [
      "with larger volumes than allowed",
      { storage: "8Gi" },
      { pods: own({ datastore: { storage: "1Ti" } }) },
      none,
      false,
    ],
    [
      "with an allowed StorageClass",
      { storageClasses: ["a"] },
      { pods: own({ datastore: { storageClassName: "a" } }) },
      none,
      true,
    ],
    [
      "with another StorageClass",
      { storageClasses: ["a"] },
      { pods: own({ datastore: { storageClassName: "b" } }) },
      none,
      false,
    ],
    ["that is the last of its namespace", { controlPlanes: 3 }, {}, { ...none, controlPlanes: 2 }, true],
    ["that is one too many", { controlPlanes: 3 }, {}, { ...none, controlPlanes: 3 }, false],
    ["whose volumes fit", { namespaceStorage: "24Gi" }, {}, { controlPlanes: 2, storage: 16 * GIB }, true],
    ["whose volumes do not fit", { namespaceStorage: "24Gi" }, {}, { controlPlanes: 2, storage: 17 * GIB }, false],
    [
      "whose three members do not fit",
      { namespaceStorage: "16Gi" },
      { pods: own({ datastore: { members: 3 } }) },
      none,
      false,
    ],
    [
      "in the shared etcd with more bytes than the largest size that is allowed",
      { size: "Small" },
      { pods: {}, storageBudget: 2 ** 31 },
      none,
      false,
    ],
    ["in the shared etcd with the bytes of that size", { size: "Small" }, { pods: {} }, none, true],
    [
      "in the shared etcd, which has no volumes of its own",
      { namespaceStorage: "1Gi", storage: "1Gi" },
      { pods: {} },
      none,
      true,
    ],
  ];
  test.each(rows)("%s", (_, ceilings, changes, otherControlPlanes, isAllowed) => {
    const cluster = new PlayedCluster({ ceilings });
    cluster.otherControlPlanes = otherControlPlanes;
    const { status } = cluster.settle(specOf(changes));
    if (isAllowed) {
      expect(status.problem?.code).not.toBe("PODS_CEILING_EXCEEDED");
      expect(cluster.performed).not.toEqual([]);
    } else {
      expect(status.problem).toMatchObject(exceeded);
      expect(cluster.performed).toEqual([]);
    }
  });
});

test("a lowered ceiling takes nothing away, and certificates are renewed under it; more is refused", () => {
  const before = new PlayedCluster();
  const large = specOf({ replicas: 3, pods: own({ size: "Large" }) });
  before.complete(large);
  const cluster = new PlayedCluster({ ceilings: { size: "Small", replicas: 1, storage: "1Gi", controlPlanes: 0 } });
  for (const [id, object] of before.live) cluster.live.set(id, object);
  Object.assign(cluster, { namespace: before.namespace, pods: before.pods });
  expect(cluster.complete(large).status).toMatchObject({ ready: true });
  expect(cluster.complete(large).status.problem).toBeUndefined();
  expect(cluster.settle({ ...large, replicas: 4 }).status.problem).toMatchObject(exceeded);
});

test("of two requests at the same moment the one with the smaller name is allowed", () => {
  const volumes = (id: string) => ({ id, storage: 8 * GIB });
  const requested = ["team.a", "team.b", "other.a"].map(volumes);
  const existing = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "hcp-b", annotations: { [idAnnotation]: "team.b" } },
  } as Namespace;
  const etcdOf = (): KubeObject | undefined => undefined;
  const of = (id: string, namespaces: Namespace[] = []) => neighboursOf(id, { namespaces, requested, etcdOf });
  expect(of("team.a")).toEqual(none);
  expect(of("team.b")).toEqual({ controlPlanes: 1, storage: 8 * GIB });
  // One that exists counts for all.
  expect(of("team.a", [existing])).toEqual({ controlPlanes: 1, storage: 8 * GIB });
  expect(of("other.a", [existing])).toEqual(none);
});

describe("more members of an etcd that exists", () => {
  const three = specOf({ pods: own({ datastore: { members: 3 } }) });
  const started = (namespaceStorage: string): PlayedCluster => {
    const cluster = new PlayedCluster({ ceilings: { namespaceStorage } });
    cluster.complete(specOf());
    cluster.performed.splice(0);
    return cluster;
  };

  test("are refused where their volumes do not fit into the namespace, and nothing is changed", () => {
    const cluster = started("24Gi");
    cluster.otherControlPlanes = { controlPlanes: 1, storage: GIB };
    expect(cluster.settle(three).status.problem).toMatchObject(exceeded);
    expect(cluster.performed).toEqual([]);
  });

  test("are added where they fit, and not stopped in the midst when a neighbour came meanwhile", () => {
    const cluster = started("24Gi");
    expect(cluster.settle(three, { rounds: 2 }).status.problem?.code).not.toBe("PODS_CEILING_EXCEEDED");
    cluster.otherControlPlanes = { controlPlanes: 1, storage: GIB };
    expect(cluster.settle(three).status.problem?.code).not.toBe("PODS_CEILING_EXCEEDED");
    expect(cluster.performed).toContain("add-etcd-member");
  });

  test("are counted for control planes that come later, as soon as they are requested or begun", () => {
    const existing = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "hcp-b", annotations: { [idAnnotation]: "team.b" } },
    } as Namespace;
    const etcdOf = (registered: object) => () =>
      ({
        kind: "StatefulSet",
        metadata: { name: "etcd", annotations: { "controlplane.causeway.dev/members": "1", ...registered } },
        spec: { volumeClaimTemplates: [{ spec: { resources: { requests: { storage: "8Gi" } } } }] },
      }) as unknown as KubeObject;
    const requested = [{ id: "team.b", storage: 24 * GIB }];
    const storage = (id: string, registered: object = {}) =>
      neighboursOf(id, { namespaces: [existing], requested, etcdOf: etcdOf(registered) }).storage;
    expect(storage("team.c")).toBe(24 * GIB);
    expect(storage("team.a")).toBe(8 * GIB);
    expect(storage("team.a", { "controlplane.causeway.dev/registered-members": "1" })).toBe(24 * GIB);
  });
});
