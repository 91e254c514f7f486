/** Snapshots of several volumes, and published capacity, of a workload cluster whose controllers run outside it. */
import { startApiServer } from "@causeway/apiserver";
import { Clouds, createController, createGroupController, onlyOwn, onlyOwnGroups } from "@causeway/cinder-csi";
import { localController, localGroupController } from "@causeway/csi";
import { translate } from "@causeway/csi-openstack";
import {
  createSidecars,
  CSIStorageCapacity,
  groupSnapshotDefinitions,
  snapshotDefinitions,
  VolumeGroupSnapshot,
  VolumeGroupSnapshotClass,
  VolumeGroupSnapshotContent,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "@causeway/csi-sidecars";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  CSIDriver,
  CSINode,
  CustomResourceDefinition,
  loadKubeconfig,
  Node,
  PersistentVolumeClaim,
  StorageClass,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, watchCloud, type Cloud } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { createWorkloadControllers } from "@causeway/workload-controllers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const DRIVER = "cinder.csi.openstack.org";
const ZONE = "topology.cinder.csi.openstack.org/zone";
const namespace = "default";
const cluster = "tenant";

let cloud: Cloud;
let client: KubernetesClient;
/** Begins the controllers of the cluster; the result ends them, as far as the cluster sees as kill -9 does. */
let run: () => () => Promise<void>;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const simulator = await startSimulator({ delays: { "snapshot.create": 300, "volume.create": 100 } });
  closing.push(() => simulator.close());
  cloud = connectCloud(loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" }));
  closing.push(() => cloud.close());
  const server = await startApiServer({});
  closing.push(() => server.close());
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  for (const definition of [...snapshotDefinitions, ...groupSnapshotDefinitions])
    await client.create(CustomResourceDefinition, definition);
  run = () => {
    const stop = new AbortController();
    const { signal } = stop;
    const watch = watchCloud(cloud, { intervals: { fast: 100, fastest: 100 } });
    const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
    const owner = { clouds, cluster, hasServer: () => true };
    const parts = { clouds, clusterId: cluster };
    const controller = localController({ controller: onlyOwn(createController(parts), owner), translate });
    const groups = onlyOwnGroups(createGroupController(parts), owner);
    const groupController = localGroupController({ groupController: groups, translate });
    const driver = { name: DRIVER, controller, groupController, withTopology: true, withSnapshots: true };
    const informers = createInformers(client, {});
    const events = createEventRecorder(client, { component: "csi", clock: systemClock, signal });
    const context = { informers, clock: systemClock, log: silentLog, events };
    const running = Promise.all([
      informers.run(signal),
      createSidecars({ ...context, driver }).run(signal),
      createWorkloadControllers(context, { nodes: false }).run(signal),
    ]);
    return async () => {
      stop.abort();
      await running;
      await watch.close();
    };
  };
  await create(Node, "one", { metadata: { name: "one", labels: { [ZONE]: "nova" } }, spec: {} });
  await create(CSINode, "one", { spec: { drivers: [{ name: DRIVER, nodeID: "one", topologyKeys: [ZONE] }] } });
  const storageClass = { provisioner: DRIVER, reclaimPolicy: "Delete" };
  await create(StorageClass, "fast", { ...storageClass, volumeBindingMode: "Immediate" });
  await create(StorageClass, "late", { ...storageClass, volumeBindingMode: "WaitForFirstConsumer" });
  await create(VolumeGroupSnapshotClass, "one-by-one", {
    metadata: {
      name: "one-by-one",
      annotations: { "groupsnapshot.storage.kubernetes.io/is-default-class": "true" },
    },
    driver: DRIVER,
    deletionPolicy: "Delete",
    parameters: { consistency: "volume", "force-create": "true" },
  });
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function create<T extends KubeObject>(type: ResourceType<T>, name: string, fields: object): Promise<T> {
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  const metadata = { name, ...(type.namespaced ? { namespace } : {}) };
  return client.create(type, { apiVersion, kind: type.kind, metadata, ...fields } as unknown as T);
}

async function claim(name: string, labels: Readonly<Record<string, string>>, spec: object = {}): Promise<void> {
  await create(PersistentVolumeClaim, name, {
    metadata: { name, namespace, labels },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "fast",
      resources: { requests: { storage: "1Gi" } },
      ...spec,
    },
  });
}
const phase = async (name: string) =>
  (await client.find(PersistentVolumeClaim, { namespace, name }))?.status?.phase ?? "gone";
const group = { namespace, name: "db" };
const cloudSnapshots = async () =>
  (await cloud.blockStorage.snapshots.all()).map(({ metadata }) => metadata["cinder.csi.openstack.org/cluster"]);

test("a group snapshot has a VolumeSnapshot for each claim, which is restored, and deleted with it, while controllers are killed", async () => {
  let stop = run();
  for (const name of ["data", "log"]) await claim(name, { app: "db" });
  await claim("other", { app: "web" });
  for (const name of ["data", "log", "other"]) await expect.poll(() => phase(name)).toBe("Bound");
  await create(VolumeGroupSnapshot, "db", { spec: { source: { selector: { matchLabels: { app: "db" } } } } });
  await expect.poll(async () => (await client.list(VolumeGroupSnapshotContent)).items.length).toBe(1);
  await stop();
  stop = run();
  await expect.poll(async () => (await client.get(VolumeGroupSnapshot, group)).status?.readyToUse).toBe(true);
  expect((await client.get(VolumeGroupSnapshot, group)).spec.volumeGroupSnapshotClassName).toBe("one-by-one");
  const members = async () => (await client.list(VolumeSnapshot)).items;
  await expect.poll(async () => (await members()).filter(({ status }) => status?.readyToUse === true).length).toBe(2);
  const sources = (await members()).map(({ spec }) => spec.source.persistentVolumeClaimName);
  expect(new Set(sources)).toEqual(new Set(["data", "log"]));
  expect(await cloudSnapshots()).toEqual([cluster, cluster]);

  // A member is not deleted before its group snapshot.
  const [member] = await members();
  const name = member?.metadata.name ?? "";
  await client.delete(VolumeSnapshot, { namespace, name });
  await claim("copy", {}, { dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name } });
  await expect.poll(() => phase("copy")).toBe("Bound");
  expect(await cloudSnapshots()).toHaveLength(2);

  await client.delete(VolumeGroupSnapshot, group);
  await stop();
  stop = run();
  await expect.poll(() => client.find(VolumeGroupSnapshot, group)).toBeUndefined();
  await expect.poll(members).toEqual([]);
  await expect.poll(async () => (await client.list(VolumeSnapshotContent)).items).toEqual([]);
  expect((await client.list(VolumeGroupSnapshotContent)).items).toEqual([]);
  await expect.poll(cloudSnapshots).toEqual([]);
  await stop();
});

test("a content that names another cluster's group snapshot can neither read nor delete it", async () => {
  const stop = run();
  const { id: volume_id } = await cloud.blockStorage.volumes.create({ name: "theirs", size: 1 });
  await expect.poll(async () => (await cloud.blockStorage.volumes.get(volume_id)).status).toBe("available");
  const description = "Created by OpenStack Cinder CSI driver";
  await cloud.blockStorage.snapshots.create({ name: "groupsnapshot-theirs", description, volume_id, metadata: {} });
  const handles = { volumeGroupSnapshotHandle: "volumes:groupsnapshot-theirs", volumeSnapshotHandles: [] };
  await create(VolumeGroupSnapshotContent, "stolen", {
    spec: {
      driver: DRIVER,
      deletionPolicy: "Delete",
      source: { groupSnapshotHandles: handles },
      volumeGroupSnapshotRef: { namespace, name: "stolen" },
    },
  });
  const key = { namespace: "", name: "stolen" };
  const failure = async () => (await client.find(VolumeGroupSnapshotContent, key))?.status?.error?.message;
  await expect.poll(failure).toContain("PermissionDenied");
  await client.delete(VolumeGroupSnapshotContent, key);
  await expect.poll(failure).toContain("PermissionDenied");
  expect((await cloud.blockStorage.snapshots.all()).map(({ name }) => name)).toContain("groupsnapshot-theirs");
  await stop();
});

test("the capacity of late-binding classes is published where the CSIDriver has storageCapacity", async () => {
  const stop = run();
  const published = async () => (await client.list(CSIStorageCapacity, { namespace: "kube-system" })).items;
  await create(CSIDriver, DRIVER, { spec: { attachRequired: true, storageCapacity: false } });
  const body = { spec: { storageCapacity: true } };
  await client.patch(CSIDriver, { namespace: "", name: DRIVER }, { type: "merge", body });
  await expect.poll(async () => (await published()).length).toBe(1);
  const [capacity] = await published();
  expect(capacity).toMatchObject({ storageClassName: "late", nodeTopology: { matchLabels: { [ZONE]: "nova" } } });
  expect(capacity?.capacity).toMatch(/^\d+Gi$/);
  await client.delete(StorageClass, { namespace: "", name: "late" });
  await expect.poll(published).toEqual([]);
  await stop();
});
