/**
 * Volumes of a workload cluster without a sidecar or a credential in it: claims, attachments and growth, from claim to
 * cloud and back.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import {
  Clouds,
  createController,
  IN_TREE_PROVISIONER,
  translateStorageClass,
  translateVolume,
} from "@causeway/cinder-csi";
import { localController } from "@causeway/csi";
import { translate } from "@causeway/csi-openstack";
import {
  createSidecars,
  snapshotDefinitions,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
  type SidecarDriver,
} from "@causeway/csi-sidecars";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  CustomResourceDefinition,
  CSINode,
  Event,
  loadKubeconfig,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, watchCloud, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { createWorkloadControllers } from "@causeway/workload-controllers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const DRIVER = "cinder.csi.openstack.org";
const ZONE = "topology.cinder.csi.openstack.org/zone";
const namespace = "default";

let simulator: Simulator;
let cloud: Cloud;
let client: KubernetesClient;
let serverId: string;
/** Begins the controllers of the cluster; the result ends them, as far as the cluster sees as kill -9 does. */
let run: () => () => Promise<void>;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), "volumes-"));
  closing.push(async () => rmSync(dir, { recursive: true }));
  const delays = { "volume.create": 300, "server.attach": 300, "server.detach": 300 };
  simulator = await startSimulator({ delays });
  closing.push(() => simulator.close());
  const path = join(dir, "clouds.yaml");
  writeFileSync(path, simulator.cloudsYaml, { mode: 0o600 });
  cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", path }));
  closing.push(() => cloud.close());
  const server = await startApiServer({});
  closing.push(() => server.close());
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  for (const definition of snapshotDefinitions) await client.create(CustomResourceDefinition, definition);
  serverId = await bootServer();
  run = () => {
    const stop = new AbortController();
    const { signal } = stop;
    const watch = watchCloud(cloud, { intervals: { fast: 100, fastest: 100 } });
    const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
    const controller = localController({ controller: createController({ clouds, clusterId: "tenant" }), translate });
    const migration = {
      provisioner: IN_TREE_PROVISIONER,
      storageClass: translateStorageClass,
      volume: translateVolume,
    };
    const driver: SidecarDriver = {
      name: DRIVER,
      controller,
      withTopology: true,
      withSnapshots: true,
      singleNodeMultiWriter: true,
      migration,
    };
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
  await create(CSINode, "one", { spec: { drivers: [{ name: DRIVER, nodeID: serverId, topologyKeys: [ZONE] }] } });
  await create(StorageClass, "fast", {
    provisioner: DRIVER,
    reclaimPolicy: "Delete",
    allowVolumeExpansion: true,
    volumeBindingMode: "Immediate",
    parameters: { "csi.storage.k8s.io/fstype": "xfs" },
  });
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function bootServer(): Promise<string> {
  const [flavor] = await cloud.compute.flavors.all();
  const [image] = await cloud.image.images.all();
  if (!flavor || !image) throw new Error("the simulated cloud has no flavor or image");
  const body = { name: "one", flavorRef: flavor.id, imageRef: image.id, networks: "none" as const };
  const { id } = await cloud.compute.servers.create(body);
  await vi.waitFor(async () => expect((await cloud.compute.servers.get(id)).status).toBe("ACTIVE"), {
    timeout: 60_000,
  });
  return id;
}

async function create<T extends KubeObject>(type: ResourceType<T>, name: string, fields: object): Promise<T> {
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  const metadata = { name, ...(type.namespaced ? { namespace } : {}) };
  return client.create(type, { apiVersion, kind: type.kind, metadata, ...fields } as unknown as T);
}

const claimOf = (name: string) => client.find(PersistentVolumeClaim, { namespace, name });
const claim = (name: string, spec: object = {}) =>
  create(PersistentVolumeClaim, name, {
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "fast",
      resources: { requests: { storage: "1Gi" } },
      ...spec,
    },
  });
const volumeNamed = async (name: string) =>
  client.find(PersistentVolume, { namespace: "", name: (await claimOf(name))?.spec.volumeName ?? "" });
const volumes = async () => (await cloud.blockStorage.volumes.all()).map(({ name, status }) => `${name} ${status}`);

test("a claim is bound, attached, grown, detached and deleted", async () => {
  const stop = run();
  await claim("data");
  await expect.poll(async () => (await claimOf("data"))?.status?.phase).toBe("Bound");
  const volume = await volumeNamed("data");
  if (!volume?.spec.csi) throw new Error("the claim has no volume");
  const name = volume.metadata.name;
  expect(volume.spec.csi).toMatchObject({ driver: DRIVER, fsType: "xfs" });
  expect(volume.spec.nodeAffinity?.required?.nodeSelectorTerms).toEqual([
    { matchExpressions: [{ key: ZONE, operator: "In", values: ["nova"] }] },
  ]);
  const { volumeHandle } = volume.spec.csi;
  expect((await cloud.blockStorage.volumes.get(volumeHandle)).metadata).toMatchObject({
    "csi.storage.k8s.io/pvc/name": "data",
    "cinder.csi.openstack.org/cluster": "tenant",
  });

  const key = { namespace: "", name: "attachment" };
  await create(VolumeAttachment, key.name, {
    spec: { attacher: DRIVER, nodeName: "one", source: { persistentVolumeName: name } },
  });
  await expect.poll(async () => (await client.get(VolumeAttachment, key)).status?.attached).toBe(true);
  const attached = await cloud.blockStorage.volumes.get(volumeHandle);
  expect(attached.attachments.map(({ server_id }) => server_id)).toEqual([serverId]);

  const body = { spec: { resources: { requests: { storage: "2Gi" } } } };
  await client.patch(PersistentVolumeClaim, { namespace, name: "data" }, { type: "merge", body });
  const conditions = async () => (await claimOf("data"))?.status?.conditions?.map(({ type }) => type);
  await expect.poll(conditions).toEqual(["FileSystemResizePending"]);
  expect((await volumeNamed("data"))?.spec.capacity).toEqual({ storage: "2Gi" });
  expect((await cloud.blockStorage.volumes.get(volumeHandle)).size).toBe(2);

  // The volume is kept while it is attached.
  await client.delete(PersistentVolumeClaim, { namespace, name: "data" });
  await expect
    .poll(async () => (await client.find(PersistentVolume, { namespace: "", name }))?.status?.phase)
    .toBe("Released");
  expect(await volumes()).toEqual([`${name} in-use`]);
  await client.delete(VolumeAttachment, key);
  await expect.poll(() => client.find(VolumeAttachment, key)).toBeUndefined();
  await expect.poll(() => client.find(PersistentVolume, { namespace: "", name })).toBeUndefined();
  expect(await volumes()).toEqual([]);
  await stop();
});

test("a volume whose claim was deleted while it was created is deleted", async () => {
  const stop = run();
  simulator.setDelay("volume.create", 3_000);
  await claim("short");
  await expect.poll(async () => (await volumes()).length).toBe(1);
  await client.delete(PersistentVolumeClaim, { namespace, name: "short" });
  await expect.poll(() => claimOf("short")).toBeUndefined();
  await expect.poll(volumes).toEqual([]);
  simulator.setDelay("volume.create", 300);
  expect((await client.list(PersistentVolume)).items).toEqual([]);
  await stop();
});

test("a node without the driver and a missing StorageClass are reported", async () => {
  const stop = run();
  await claim("plain");
  await expect.poll(async () => (await claimOf("plain"))?.status?.phase).toBe("Bound");
  const source = { persistentVolumeName: (await volumeNamed("plain"))?.metadata.name };
  await create(VolumeAttachment, "elsewhere", { spec: { attacher: DRIVER, nodeName: "two", source } });
  const key = { namespace: "", name: "elsewhere" };
  const message = async () => (await client.get(VolumeAttachment, key)).status?.attachError?.message;
  await expect.poll(message).toBe(`node two has no CSI driver ${DRIVER} registered`);
  await client.delete(VolumeAttachment, key);
  await claim("too-large", { resources: { requests: { storage: "200Ti" } } });
  const reasons = async () => (await client.list(Event, { namespace })).items.map(({ reason }) => reason);
  await expect.poll(reasons).toContain("ProvisioningFailed");
  await client.delete(PersistentVolumeClaim, { namespace, name: "too-large" });
  await client.delete(PersistentVolumeClaim, { namespace, name: "plain" });
  await expect.poll(volumes).toEqual([]);
  await stop();
});

test("the Cinder driver serves StorageClasses and volumes of the in-tree driver", async () => {
  const stop = run();
  const old = { provisioner: IN_TREE_PROVISIONER, parameters: { fsType: "xfs", availability: "nova" } };
  await create(StorageClass, "old", { ...old, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" });
  await claim("old", { storageClassName: "old" });

  await expect.poll(async () => (await claimOf("old"))?.status?.phase).toBe("Bound");
  expect((await volumeNamed("old"))?.spec.csi).toMatchObject({ driver: DRIVER, fsType: "xfs" });
  await client.delete(PersistentVolumeClaim, { namespace, name: "old" });

  const { id } = await cloud.blockStorage.volumes.create({ name: "in-tree", size: 1 });
  await expect.poll(async () => (await cloud.blockStorage.volumes.get(id)).status).toBe("available");
  await create(PersistentVolume, "in-tree", {
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      persistentVolumeReclaimPolicy: "Retain",
      cinder: { volumeID: id, fsType: "ext4" },
    },
  });
  const key = { namespace: "", name: "in-tree" };
  const source = { persistentVolumeName: "in-tree" };
  await create(VolumeAttachment, "in-tree", { spec: { attacher: DRIVER, nodeName: "one", source } });
  await expect.poll(async () => (await client.get(VolumeAttachment, key)).status?.attached).toBe(true);
  await client.delete(VolumeAttachment, key);
  await expect.poll(() => client.find(VolumeAttachment, key)).toBeUndefined();
  await client.delete(PersistentVolume, key);
  await expect.poll(() => client.find(PersistentVolume, key)).toBeUndefined();
  await expect.poll(volumes).toEqual(["in-tree available"]);
  await cloud.blockStorage.volumes.delete(id);
  await expect.poll(volumes).toEqual([]);
  await stop();
});

test("controllers that are killed again and again lose no volume and leave none", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `many-${at}`);
  let stop = run();
  for (const name of names) await claim(name);
  for (let kills = 0; kills < 4; kills += 1) {
    await new Promise((done) => setTimeout(done, 250));
    await stop();
    stop = run();
  }
  for (const name of names) await expect.poll(async () => (await claimOf(name))?.status?.phase).toBe("Bound");
  expect((await volumes()).length).toBe(names.length);
  for (const name of names) await client.delete(PersistentVolumeClaim, { namespace, name });
  await expect.poll(volumes).toEqual([]);
  await stop();
});

const bound = async (name: string) => {
  await expect.poll(async () => (await claimOf(name))?.status?.phase).toBe("Bound");
  return (await volumeNamed(name))?.spec.csi?.volumeHandle ?? "";
};
const cloudSnapshots = async () => (await cloud.blockStorage.snapshots.all()).map(({ status }) => status);

test("a snapshot is created, restored and deleted with its VolumeSnapshot", async () => {
  const stop = run();
  await claim("source");
  const volumeId = await bound("source");
  await create(VolumeSnapshotClass, "cinder", {
    driver: DRIVER,
    deletionPolicy: "Delete",
    parameters: { "force-create": "true" },
    metadata: { name: "cinder", annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
  });
  await create(VolumeSnapshot, "snap", { spec: { source: { persistentVolumeClaimName: "source" } } });
  const key = { namespace, name: "snap" };
  await expect.poll(async () => (await client.get(VolumeSnapshot, key)).status?.readyToUse).toBe(true);
  const snapshot = await client.get(VolumeSnapshot, key);
  const contentName = `snapcontent-${snapshot.metadata.uid}`;
  expect(snapshot.spec.volumeSnapshotClassName).toBe("cinder");
  expect(snapshot.status).toMatchObject({ boundVolumeSnapshotContentName: contentName, restoreSize: "1Gi" });
  const content = await client.get(VolumeSnapshotContent, { namespace: "", name: contentName });
  expect(content.spec).toMatchObject({ driver: DRIVER, source: { volumeHandle: volumeId }, deletionPolicy: "Delete" });
  const [taken] = await cloud.blockStorage.snapshots.all();
  expect(taken).toMatchObject({
    id: content.status?.snapshotHandle,
    name: `snapshot-${snapshot.metadata.uid}`,
    metadata: { "csi.storage.k8s.io/volumesnapshot/name": "snap" },
  });

  await claim("copy", { dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "snap" } });
  const copyId = await bound("copy");
  expect((await cloud.blockStorage.volumes.get(copyId)).snapshot_id).toBe(taken?.id);

  // A content that is deleted first waits for its VolumeSnapshot.
  await client.delete(VolumeSnapshotContent, { namespace: "", name: contentName });
  expect(await cloudSnapshots()).toEqual(["available"]);
  await client.delete(PersistentVolumeClaim, { namespace, name: "copy" });
  await client.delete(VolumeSnapshot, key);
  await expect.poll(() => client.find(VolumeSnapshot, key)).toBeUndefined();
  expect((await client.list(VolumeSnapshotContent)).items).toEqual([]);
  await expect.poll(cloudSnapshots).toEqual([]);
  await client.delete(PersistentVolumeClaim, { namespace, name: "source" });
  await expect.poll(volumes).toEqual([]);
  await stop();
});

test("a snapshot made elsewhere is bound to the VolumeSnapshot that names it, and retained", async () => {
  const stop = run();
  await claim("origin");
  const volumeId = await bound("origin");
  const made = await cloud.blockStorage.snapshots.create({ volume_id: volumeId, name: "by-hand" });
  await expect.poll(cloudSnapshots).toEqual(["available"]);
  await create(VolumeSnapshotContent, "given", {
    spec: {
      driver: DRIVER,
      deletionPolicy: "Retain",
      source: { snapshotHandle: made.id },
      volumeSnapshotRef: { namespace, name: "given" },
    },
  });
  await create(VolumeSnapshot, "given", { spec: { source: { volumeSnapshotContentName: "given" } } });
  const key = { namespace, name: "given" };
  await expect.poll(async () => (await client.get(VolumeSnapshot, key)).status?.readyToUse).toBe(true);
  await create(VolumeSnapshot, "second", { spec: { source: { volumeSnapshotContentName: "given" } } });
  const second = async () => (await client.get(VolumeSnapshot, { namespace, name: "second" })).status?.error?.message;
  await expect.poll(second).toContain("is of another VolumeSnapshot");
  for (const name of ["second", "given"]) await client.delete(VolumeSnapshot, { namespace, name });
  await expect.poll(() => client.find(VolumeSnapshot, key)).toBeUndefined();
  await client.delete(VolumeSnapshotContent, { namespace: "", name: "given" });
  await expect.poll(() => client.find(VolumeSnapshotContent, { namespace: "", name: "given" })).toBeUndefined();
  expect(await cloudSnapshots()).toEqual(["available"]);
  await cloud.blockStorage.snapshots.delete(made.id);
  await expect.poll(cloudSnapshots).toEqual([]);
  await client.delete(PersistentVolumeClaim, { namespace, name: "origin" });
  await expect.poll(volumes).toEqual([]);
  await stop();
});

test("a VolumeAttributesClass retypes the volume of the claim that names it", async () => {
  const stop = run();
  await create(VolumeAttributesClass, "gold", { driverName: DRIVER, parameters: { type: "fast" } });
  await create(VolumeAttributesClass, "wrong", { driverName: DRIVER, parameters: { colour: "blue" } });
  await claim("typed");
  const volumeId = await bound("typed");
  const name = (className: string) =>
    client.patch(
      PersistentVolumeClaim,
      { namespace, name: "typed" },
      { type: "merge", body: { spec: { volumeAttributesClassName: className } } },
    );
  await name("gold");
  await expect.poll(async () => (await claimOf("typed"))?.status?.currentVolumeAttributesClassName).toBe("gold");
  expect((await cloud.blockStorage.volumes.get(volumeId)).volume_type).toBe("fast");
  expect((await volumeNamed("typed"))?.spec.volumeAttributesClassName).toBe("gold");
  expect((await claimOf("typed"))?.status?.modifyVolumeStatus).toBeUndefined();
  await name("wrong");
  const progress = async () => (await claimOf("typed"))?.status?.modifyVolumeStatus;
  await expect.poll(progress).toEqual({ targetVolumeAttributesClassName: "wrong", status: "Infeasible" });

  await claim("born", { volumeAttributesClassName: "gold" });
  const bornId = await bound("born");
  expect((await cloud.blockStorage.volumes.get(bornId)).volume_type).toBe("fast");
  for (const each of ["typed", "born"]) await client.delete(PersistentVolumeClaim, { namespace, name: each });
  await expect.poll(volumes).toEqual([]);
  await stop();
});
