/** Volumes, attachments and snapshots that upstream's driver made, as its version 1.34 leaves them in the cloud. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

let world: World;
let driver: Driver;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const start = async () => {
  driver = await world.driver({ clusterId: "kubernetes" });
};
const description = "Created by OpenStack Cinder CSI driver";
const metadata = {
  "cinder.csi.openstack.org/cluster": "kubernetes",
  "csi.storage.k8s.io/pvc/name": "data",
  "csi.storage.k8s.io/pvc/namespace": "default",
  "csi.storage.k8s.io/pv/name": "pvc-1",
};
/** As upstream's driver creates one: it returns before Cinder has finished. */
const upstreamVolume = () =>
  world.cloud.blockStorage.volumes.create({ name: "pvc-1", size: 1, description, metadata, availability_zone: "nova" });
const volume = (id: string) => world.cloud.blockStorage.volumes.get(id);
const has = (id: string, status: string) => world.eventually(async () => (await volume(id)).status === status);
const changes = () =>
  world.simulator.calls
    .filter(({ userAgent, method }) => userAgent.includes(DRIVER_AGENT) && method !== "GET")
    .filter(({ path }) => !path.endsWith("/auth/tokens"))
    .map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);

test("a volume that upstream attached remains attached, and is served from then on", async () => {
  const { id } = await upstreamVolume();
  await has(id, "available");
  const server = await world.server("worker");
  await world.cloud.compute.volumeAttachments(server).attach({ volumeId: id });
  await has(id, "in-use");
  const before = (await volume(id)).attachments;
  await start();
  const { controller } = driver.client;
  // What the sidecars repeat when they start.
  const listed = (await controller.listVolumes({})).entries.find((each) => each.volume?.volumeId === id);
  expect(listed?.status?.publishedNodeIds).toEqual([server]);
  const volumeCapability = fileSystem;
  const { publishContext } = await controller.controllerPublishVolume({
    volumeId: id,
    nodeId: server,
    volumeCapability,
  });
  expect(publishContext).toEqual({ DevicePath: before[0]?.device });
  const request = { name: "pvc-1", capacityRange: gib(1), volumeCapabilities: [fileSystem] };
  expect((await controller.createVolume(request)).volume?.volumeId).toBe(id);
  expect(changes()).toEqual([]);
  expect((await volume(id)).attachments).toEqual(before);
  await controller.controllerExpandVolume({ volumeId: id, capacityRange: gib(2), volumeCapability });
  expect(await volume(id)).toMatchObject({ size: 2, status: "in-use", metadata });
  await controller.controllerUnpublishVolume({ volumeId: id, nodeId: server });
  await controller.deleteVolume({ volumeId: id });
  expect(await world.cloud.blockStorage.volumes.find(id)).toBeUndefined();
});

test("a volume that upstream was creating when it ended is waited for, and attached once", async () => {
  const { id } = await upstreamVolume();
  const server = await world.server("worker");
  await start();
  const { controller } = driver.client;
  const request = { name: "pvc-1", capacityRange: gib(1), volumeCapabilities: [fileSystem] };
  expect((await controller.createVolume(request)).volume?.volumeId).toBe(id);
  await controller.controllerPublishVolume({ volumeId: id, nodeId: server, volumeCapability: fileSystem });
  expect(changes()).toEqual(["POST os-volume_attachments"]);
});

test("a snapshot of upstream's is the one of its name, and is deleted", async () => {
  const { id } = await upstreamVolume();
  await has(id, "available");
  const { snapshots } = world.cloud.blockStorage;
  const cluster = { "cinder.csi.openstack.org/cluster": "kubernetes" };
  const made = await snapshots.create({ volume_id: id, name: "snapshot-1", description, metadata: cluster });
  await world.eventually(async () => (await snapshots.get(made.id)).status === "available");
  await start();
  const { controller } = driver.client;
  const { snapshot } = await controller.createSnapshot({ name: "snapshot-1", sourceVolumeId: id });
  expect(snapshot).toMatchObject({ snapshotId: made.id, readyToUse: true });
  expect((await controller.listSnapshots({ sourceVolumeId: id })).entries).toHaveLength(1);
  await controller.deleteSnapshot({ snapshotId: made.id });
  expect(await snapshots.find(made.id)).toBeUndefined();
});
