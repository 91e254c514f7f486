import { expect, test } from "vitest";
import {
  allKinds,
  KubeadmConfig,
  labels,
  type MachinePool,
  type Cluster,
  type ClusterClass,
  type Kind,
  type MachinePoolStatus,
} from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { createKindTable } from "../contract/kind-table.ts";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { poolClass, poolKinds, poolTemplate } from "../testing/pool-manifests.ts";
import { blueprintOf } from "./blueprint.ts";
import { desiredState } from "./desired.ts";
import { noHooks } from "./hooks.ts";
import type { CurrentState } from "./model.ts";
import { plan } from "./plan.ts";
import { poolVersion, type PoolTopology } from "./pools.ts";

const namespace = "default";
const kinds = createKindTable([...allKinds, ...poolKinds]);
const none: CurrentState = {
  infrastructure: undefined,
  controlPlane: undefined,
  deployments: [],
  pools: [],
  poolObjects: [],
  sets: [],
  machines: [],
  healthChecks: [],
  templates: [],
};

const clusterWith = (pools: readonly Partial<PoolTopology>[]): Cluster => {
  const cluster = topologyCluster();
  const machinePools = pools.map((one) => ({ class: "default-pool", name: "mp-0", ...one }));
  return {
    ...cluster,
    metadata: { ...cluster.metadata, namespace, uid: "uid-cluster" },
    spec: {
      ...cluster.spec,
      topology: { classRef: { name: "class" }, version: "v1.34.0", workers: { machinePools } },
    },
  };
};

/** The blueprint of the class, with a change of its class of pools. */
function blueprint(more: Partial<ReturnType<typeof poolClass>> = {}, patches: ClusterClass["spec"]["patches"] = []) {
  const made = clusterClass("class", { workers: { machinePools: [{ ...poolClass(), ...more }] }, patches });
  const sources: readonly KubeObject[] = [...classTemplates(), poolTemplate()];
  return blueprintOf({ ...made, metadata: { ...made.metadata, namespace } }, ({ apiVersion, kind, name }) => ({
    kind: kinds.find({ apiGroup: apiVersion.split("/")[0] ?? "", kind }),
    object: sources.find((one) => one.kind === kind && one.metadata.name === name),
  }));
}

function desired(pool: Partial<PoolTopology>, more: Parameters<typeof blueprint> = []) {
  const cluster = clusterWith([pool]);
  const [found] = desiredState({ cluster, blueprint: blueprint(...more), current: none, kinds }).pools;
  if (!found) throw new Error("the topology has no pool");
  return found;
}
const spec = (object: KubeObject) => (object as MachinePool).spec;

test.each<readonly [string, Partial<PoolTopology>, Parameters<typeof blueprint>[0], object]>([
  ["has the replicas of the topology", { replicas: 3 }, {}, { replicas: 3 }],
  [
    "has the version of the topology",
    {},
    {},
    { clusterName: "demo", template: { spec: { clusterName: "demo", version: "v1.34.0" } } },
  ],
  ["has the failure domains of its class", {}, { failureDomains: ["a"] }, { failureDomains: ["a"] }],
  [
    "has the topology's before those of its class",
    { failureDomains: ["b"], minReadySeconds: 5 },
    { failureDomains: ["a"], minReadySeconds: 1 },
    { failureDomains: ["b"], template: { spec: { minReadySeconds: 5 } } },
  ],
  [
    "merges the timeouts of deletion",
    { deletion: { nodeDrainTimeoutSeconds: 7 } },
    { deletion: { nodeDrainTimeoutSeconds: 1, nodeDeletionTimeoutSeconds: 2 } },
    { template: { spec: { deletion: { nodeDrainTimeoutSeconds: 7, nodeDeletionTimeoutSeconds: 2 } } } },
  ],
  [
    "gives its machines the labels of class and topology",
    { metadata: { labels: { zone: "b" } } },
    { metadata: { labels: { zone: "a", tier: "x" } } },
    { template: { metadata: { labels: { zone: "b", tier: "x", [labels.topologyPoolName]: "mp-0" } } } },
  ],
])("a MachinePool of a topology %s", (_, pool, ofClass, expected) => {
  expect(spec(desired(pool, [ofClass]).pool.object)).toMatchObject(expected);
});

test("a MachinePool of a topology refers to objects of its own, which it may control", () => {
  const { pool, bootstrap, infrastructure } = desired({});
  const { configRef } = spec(pool.object).template.spec.bootstrap;
  expect(configRef).toEqual({
    apiGroup: KubeadmConfig.group,
    kind: "KubeadmConfig",
    name: bootstrap.object.metadata.name,
  });
  expect(spec(pool.object).template.spec.infrastructureRef).toMatchObject({
    kind: "StubMachinePool",
    name: infrastructure.object.metadata.name,
  });
  expect(infrastructure.object.spec).toEqual({ size: 1 });
  for (const { object } of [bootstrap, infrastructure]) {
    expect(object.metadata.labels).toMatchObject({ [labels.topologyOwned]: "", [labels.topologyPoolName]: "mp-0" });
    expect(object.metadata.ownerReferences).toMatchObject([{ kind: "Cluster", uid: "uid-cluster" }]);
    expect(object.metadata.ownerReferences?.[0]?.controller).toBeUndefined();
  }
});

test("patches select the classes of MachinePools, and see what the pool is", () => {
  const { apiVersion, kind } = poolTemplate();
  const patch = (names: string[]): NonNullable<ClusterClass["spec"]["patches"]>[number] => ({
    name: names.join(),
    definitions: [
      {
        selector: { apiVersion, kind, matchResources: { machinePoolClass: { names } } },
        jsonPatches: [
          {
            op: "add",
            path: "/spec/template/spec/label",
            valueFrom: { template: "{{ .builtin.machinePool.topologyName }}-{{ .builtin.machinePool.version }}" },
          },
        ],
      },
    ],
  });
  const of = (names: string[]) => desired({}, [{}, [patch(names)]]).infrastructure.object.spec["label"];
  expect([of(["default-*"]), of(["other"])]).toEqual(["mp-0-v1.34.0", undefined]);
});

test("a class that does not exist is refused", () => {
  expect(() => desired({ class: "none" })).toThrow(/MachinePool class "none" not found in ClusterClass class/);
});

const standing = (status: MachinePoolStatus | undefined, name = "demo-mp-0-abcde", version = "v1.34.0") =>
  ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachinePool",
    metadata: { name, namespace, uid: name, generation: 2, labels: { [labels.topologyPoolName]: "mp-0" } },
    spec: {
      clusterName: "demo",
      template: { spec: { clusterName: "demo", version, bootstrap: {}, infrastructureRef: reference("in-use") } },
    },
    ...(status ? { status } : {}),
  }) as MachinePool;
const reference = (name: string) => ({
  apiGroup: "infrastructure.cluster.x-k8s.io",
  kind: "StubMachinePool",
  name,
});
const nodeRefs = [{ name: "a" }, { name: "b" }];

test.each<readonly [string, MachinePoolStatus | undefined, boolean]>([
  ["without a status", undefined, false],
  ["without Nodes", { observedGeneration: 1 }, false],
  ["whose Nodes all have its version", { observedGeneration: 2, upToDateReplicas: 2, nodeRefs }, false],
  ["one of whose Nodes does not", { observedGeneration: 2, upToDateReplicas: 1, nodeRefs }, true],
  ["whose status is of an earlier spec", { observedGeneration: 1, upToDateReplicas: 2, nodeRefs }, true],
])("a pool %s is upgrading: %s", (_, status, isUpgrading) => {
  const current = { ...none, pools: [standing(status)] };
  expect(poolVersion(current, { class: "default-pool", name: "mp-0" }).current?.isUpgrading).toBe(isUpgrading);
});

/** What a settled topology would change, with these pools and objects of pools. */
function stepsWith(pools: readonly MachinePool[], objects: readonly string[]): string[] {
  const cluster = clusterWith([]);
  const [stub] = poolKinds as readonly [Kind<KubeObject>];
  const object = (name: string) => ({
    apiVersion: `${stub.group}/${stub.version}`,
    kind: stub.kind,
    metadata: {
      name,
      namespace,
      uid: name,
      ownerReferences: [{ apiVersion: "", kind: "Cluster", name: "demo", uid: "uid-cluster" }],
    },
  });
  const current = { ...none, pools, poolObjects: objects.map((name) => ({ kind: stub, object: object(name) })) };
  const wanted = desiredState({ cluster, blueprint: blueprint(), current, kinds });
  const settled = {
    ...cluster,
    metadata: { ...cluster.metadata, labels: { [labels.clusterName]: "demo", [labels.topologyOwned]: "" } },
    spec: {
      ...cluster.spec,
      topology: { ...cluster.spec.topology, variables: [...wanted.variables] },
      ...Object.fromEntries(
        (["infrastructure", "controlPlane"] as const).map((name) => {
          const { kind, object: made } = name === "infrastructure" ? wanted.infrastructure : wanted.controlPlane.object;
          return [`${name}Ref`, { apiGroup: kind.group, kind: kind.kind, name: made.metadata.name }];
        }),
      ),
    },
  } as Cluster;
  const same = { spec: false, metadata: false };
  const differences = new Map(
    [wanted.infrastructure, wanted.controlPlane.object].map(({ kind, object: made }) => [
      `${kind.kind}.${kind.group}/${namespace}/${made.metadata.name}`,
      same,
    ]),
  );
  const { steps } = plan({ cluster: settled, kinds, current, desired: wanted, differences, hooks: noHooks });
  return steps.map((step) => (step.type === "delete" ? `delete ${step.resource.kind} ${step.key.name}` : step.type));
}

test.each<readonly [string, MachinePool[], string[], string[]]>([
  ["a pool that the topology no longer has goes", [standing({})], ["in-use"], ["delete MachinePool demo-mp-0-abcde"]],
  ["an object of a pool that nothing refers to goes", [], ["orphan"], ["delete StubMachinePool orphan"]],
  [
    "an object of a pool that is being deleted is left to it",
    [{ ...standing({}), metadata: { ...standing({}).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
    ["in-use"],
    [],
  ],
])("%s", (_, pools, objects, expected) => expect(stepsWith(pools, objects)).toEqual(expected));
