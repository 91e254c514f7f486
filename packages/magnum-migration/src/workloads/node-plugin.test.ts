import { DaemonSet, type KubernetesClient } from "@causeway/kubernetes";
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

test("a cluster with a volume of Cinder needs a node plugin", async () => {
  await create({});
  expect((await readNodePlugin(client, signal)).hasVolumes).toBe(false);
  const csi = { driver: "cinder.csi.openstack.org", volumeHandle: "v" };
  const spec = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi };
  await client.request("POST", "/api/v1/persistentvolumes", {
    body: { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "v" }, spec },
  });
  expect((await readNodePlugin(client, signal)).hasVolumes).toBe(true);
});

test("the node plugin of a chart is not the driver's, and remains as it is", async () => {
  await create({}, []);
  expect(await readNodePlugin(client, signal)).toMatchObject({ isDrivers: false, hasVolumes: false });
});
