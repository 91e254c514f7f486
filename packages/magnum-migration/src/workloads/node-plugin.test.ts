import { DaemonSet, PersistentVolume, StorageClass, type KubernetesClient } from "@causeway/kubernetes";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readNodePlugin, releasePlugin, restrictPlugin } from "./node-plugin.ts";

const signal = AbortSignal.timeout(60_000);
const key = { namespace: "kube-system", name: "csi-cinder-nodeplugin" };
const path = "/apis/apps/v1/namespaces/kube-system/daemonsets";
const driversVolumes = [{ name: "secret-cinderplugin", secret: { secretName: "cinder-csi-cloud-config" } }];
const old = { key: "magnum.causeway.dev/kube-proxy", operator: "DoesNotExist" };
const zone = { key: "zone", operator: "In", values: ["a"] };
const rack = { key: "rack", operator: "Exists" };

let stage: Stage;
let client: KubernetesClient;
beforeAll(async () => {
  stage = await openStage();
  ({ client } = stage);
});
afterAll(() => stage.close());
beforeEach(() => client.delete(DaemonSet, key, { propagationPolicy: "Background" }));

async function create(pod: object, volumes: readonly object[] = driversVolumes): Promise<void> {
  const labels = { app: key.name };
  const containers = [{ name: "one", image: "example.com/one:1" }];
  await client.request("POST", path, {
    body: {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: key,
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers, volumes, ...pod } },
      },
    },
  });
}

const required = (...terms: readonly (readonly object[])[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
  },
});
const preferred = {
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [rack] } }],
};

test.for<[string, object, object]>([
  ["no affinity", {}, { nodeAffinity: required([old]) }],
  [
    "an affinity to nodes",
    { affinity: { nodeAffinity: required([zone], [rack]) } },
    { nodeAffinity: required([zone, old], [rack, old]) },
  ],
  ["a preference", { affinity: { nodeAffinity: preferred } }, { nodeAffinity: { ...preferred, ...required([old]) } }],
])(
  "a node plugin with %s is kept off new nodes, more than once, and has those that it had then",
  async ([, pod, expected]) => {
    await create(pod);
    const specOf = async () => (await client.get(DaemonSet, key)).spec.template.spec;
    const before = await specOf();
    for (let run = 0; run < 2; run += 1) await restrictPlugin(client, signal);
    expect((await specOf())?.affinity).toEqual(expected);
    expect(await readNodePlugin(client, signal)).toMatchObject({ isDrivers: true, isRestricted: true, hasOwn: false });
    for (let run = 0; run < 2; run += 1) await releasePlugin(client, signal);
    expect(await specOf()).toEqual(before);
    expect((await readNodePlugin(client, signal)).isRestricted).toBe(false);
  },
);

test.for(["x", "{", '{"a":1}', '"text"', "[]"])(
  "an annotation of a user with %j in place of the affinity neither keeps the node plugin on new nodes nor ends a rollback",
  async (value) => {
    const write = () =>
      client.patch(DaemonSet, key, {
        type: "merge",
        body: { metadata: { annotations: { "migration.causeway.dev/affinity": value } } },
      });
    await create({ affinity: { nodeAffinity: required([zone]) } });
    await write();
    await restrictPlugin(client, signal);
    const restricted = await client.get(DaemonSet, key);
    expect(restricted.spec.template.spec?.affinity).toEqual({ nodeAffinity: required([zone, old]) });
    await write();
    await releasePlugin(client, signal);
    const { metadata, spec } = await client.get(DaemonSet, key);
    expect(spec.template.spec?.affinity).toEqual({ nodeAffinity: required([zone]) });
    expect(metadata.annotations?.["migration.causeway.dev/affinity"]).toBeUndefined();
  },
);

test("a change of users to a restricted node plugin remains when it is released", async () => {
  await create({ affinity: { nodeAffinity: required([zone]) } });
  await restrictPlugin(client, signal);
  const nodeAffinity = required([zone, old, rack]);
  const body = { spec: { template: { spec: { affinity: { nodeAffinity } } } } };
  await client.patch(DaemonSet, key, { type: "merge", body });
  await releasePlugin(client, signal);
  expect((await client.get(DaemonSet, key)).spec.template.spec?.affinity).toEqual({
    nodeAffinity: required([zone, rack]),
  });
});

test.for<[string, object]>([
  ["of the CSI driver", { csi: { driver: "cinder.csi.openstack.org", volumeHandle: "v" } }],
  ["of the driver in Kubernetes itself", { cinder: { volumeID: "v" } }],
])("a cluster with a volume of Cinder %s needs a node plugin", async ([, source]) => {
  await create({});
  expect((await readNodePlugin(client, signal)).hasVolumes).toBe(false);
  const spec = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, ...source };
  await client.request("POST", "/api/v1/persistentvolumes", {
    body: { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "v" }, spec },
  });
  expect((await readNodePlugin(client, signal)).hasVolumes).toBe(true);
  const volume = { namespace: "", name: "v" };
  await client.patch(PersistentVolume, volume, { type: "merge", body: { metadata: { finalizers: null } } });
  await client.delete(PersistentVolume, volume);
});

test.for(["cinder.csi.openstack.org", "kubernetes.io/cinder"])(
  "a cluster with a StorageClass of provisioner %s may get volumes of Cinder",
  async (provisioner) => {
    await create({});
    expect((await readNodePlugin(client, signal)).hasClasses).toBe(false);
    const metadata = { name: "cinder" };
    await client.create(StorageClass, { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata, provisioner });
    expect((await readNodePlugin(client, signal)).hasClasses).toBe(true);
    await client.delete(StorageClass, { namespace: "", name: "cinder" });
  },
);

test.for<[string, Readonly<Record<string, string>>, boolean]>([
  ["of the fleet", { "app.kubernetes.io/managed-by": "causeway-fleet" }, true],
  ["of a user", {}, false],
])("a node plugin %s with the fleet's name is counted as the fleet's only if it is", async ([, labels, expected]) => {
  await create({});
  const name = "causeway-csi-cinder-nodeplugin";
  const live = await client.get(DaemonSet, key);
  const { apiVersion, kind, spec } = live;
  await client.create(DaemonSet, { apiVersion, kind, metadata: { ...key, name, labels }, spec });
  expect((await readNodePlugin(client, signal)).hasOwn).toBe(expected);
  await client.delete(DaemonSet, { ...key, name }, { propagationPolicy: "Background" });
});

test("the node plugin of a chart is not the driver's, and remains as it is", async () => {
  await create({}, []);
  expect(await readNodePlugin(client, signal)).toMatchObject({ isDrivers: false, hasVolumes: false });
});
