/** What the replaced driver does, call by call, as far as no other test of this package has it. */
import {
  Code,
  ConnectError,
  ControllerServiceCapability_RPC_Type as Rpc,
  PluginCapability_Service_Type as Service,
  PluginCapability_VolumeExpansion_Type as Expansion,
  VolumeCapability_AccessMode_Mode as Mode,
} from "@causeway/csi";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createdVolume } from "./controller/messages.ts";
import { createIdentity } from "./identity.ts";
import { blockDevice, DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

const ZONE = "topology.cinder.csi.openstack.org/zone";
const MISSING = "0e3a5b6c-0000-4000-8000-000000000000";

let world: World;
let driver: Driver;
beforeEach(async () => {
  world = await openWorld();
  driver = await world.driver();
});
afterEach(() => world.close());

const create = async (name: string, more: object = {}, by = driver) => {
  const request = { name, capacityRange: gib(1), volumeCapabilities: [fileSystem], ...more };
  const { volume } = await by.client.controller.createVolume(request);
  if (!volume) throw new Error("no volume in the response");
  return volume;
};
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );
const fromSnapshot = (snapshotId: string) => ({
  volumeContentSource: { type: { case: "snapshot" as const, value: { snapshotId } } },
});

test("the plugin announces upstream's services, and group snapshots", async () => {
  const announced = async (withTopology: boolean) => {
    const identity = createIdentity({ version: "1", withTopology });
    const { capabilities = [] } = (await identity.getPluginCapabilities?.({} as never, {} as never)) ?? {};
    return capabilities.map((each) => each.type?.value?.type);
  };
  const always = [Service.CONTROLLER_SERVICE, Service.GROUP_CONTROLLER_SERVICE, Expansion.ONLINE, Expansion.OFFLINE];
  expect(await announced(false)).toEqual(always);
  expect(await announced(true)).toEqual([...always, Service.VOLUME_ACCESSIBILITY_CONSTRAINTS]);
});

test("the controller announces what upstream's does, and what upstream lacks", async () => {
  const { capabilities } = await driver.client.controller.controllerGetCapabilities({});
  const names = new Map(Object.entries(Rpc).map(([name, value]) => [value, name]));
  const announced = capabilities.map(({ type }) => (type.case === "rpc" ? (names.get(type.value.type) ?? "") : ""));
  const upstream = [
    ["CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "LIST_VOLUMES", "LIST_VOLUMES_PUBLISHED_NODES", "GET_VOLUME"],
    ["CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS", "EXPAND_VOLUME", "CLONE_VOLUME"],
  ].flat();
  const more = ["GET_CAPACITY", "VOLUME_CONDITION", "GET_SNAPSHOT", "SINGLE_NODE_MULTI_WRITER", "MODIFY_VOLUME"];
  expect(announced.toSorted()).toEqual([...upstream, ...more].toSorted());
});

describe("CreateVolume", () => {
  test("records the claim and the volume of csi-provisioner in the metadata", async () => {
    const parameters = {
      "csi.storage.k8s.io/pvc/name": "data",
      "csi.storage.k8s.io/pvc/namespace": "shop",
      "csi.storage.k8s.io/pv/name": "pvc-1",
    };
    const { volumeId } = await create("pvc-1", { parameters });
    const { metadata } = await world.cloud.blockStorage.volumes.get(volumeId);
    expect(metadata).toEqual({ ...parameters, "cinder.csi.openstack.org/cluster": "test" });
  });

  test("sends the IDs of the volumes that the annotations name as scheduler hints", async () => {
    const [near, far] = [await create("near"), await create("far")];
    const annotations = {
      "cinder.csi.openstack.org/affinity": `near, ${far.volumeId.toUpperCase()}`,
      "cinder.csi.openstack.org/anti-affinity": "far",
    };
    const by = await world.driver({ claimAnnotations: () => Promise.resolve(annotations) });
    const sent = vi.spyOn(by.cloud.blockStorage.volumes, "create");
    const parameters = { "csi.storage.k8s.io/pvc/name": "c", "csi.storage.k8s.io/pvc/namespace": "n" };
    const { volumeContext } = await create("a", { parameters }, by);
    expect(sent.mock.calls[0]?.[0].schedulerHints).toEqual({
      same_host: [near.volumeId, far.volumeId],
      different_host: [far.volumeId],
    });
    expect(volumeContext).toEqual({ affinity: `${near.volumeId},${far.volumeId}`, "anti-affinity": far.volumeId });
  });

  test("without topology neither sends a zone nor returns one", async () => {
    const by = await world.driver({ withTopology: false });
    const sent = vi.spyOn(by.cloud.blockStorage.volumes, "create");
    const accessibilityRequirements = { preferred: [{ segments: { [ZONE]: "az2" } }] };
    const { accessibleTopology } = await create("a", { accessibilityRequirements }, by);
    expect(accessibleTopology).toEqual([]);
    expect(sent.mock.calls[0]?.[0]).not.toHaveProperty("availability_zone");
  });

  test("returns the zone as nodes have it in their topology", async () => {
    const volume = await world.cloud.blockStorage.volumes.get((await create("a")).volumeId);
    const spec = { name: "a", gib: 1, type: undefined, zone: undefined, metadata: {}, source: undefined };
    const affinity = { sameHost: [], differentHost: [] };
    const given = { spec, request: {}, withTopology: true, ignoreZone: false, affinity };
    const created = createdVolume({ ...volume, availability_zone: "Zone 1/a" }, given);
    expect(created.volume.accessibleTopology).toEqual([{ segments: { [ZONE]: "Zone-1-a" } }]);
  });

  test("is UNAVAILABLE until the source is complete, and OUT_OF_RANGE for less room than it needs", async () => {
    const { volumeId } = await create("a", { capacityRange: gib(2) });
    world.simulator.setDelay("snapshot.create", 60_000);
    const snapshot = await world.cloud.blockStorage.snapshots.create({ volume_id: volumeId, name: "slow" });
    expect(await codeOf(create("b", { ...fromSnapshot(snapshot.id), capacityRange: gib(2) }))).toBe(Code.Unavailable);
    await world.eventually(
      async () => (await world.cloud.blockStorage.snapshots.get(snapshot.id)).status === "available",
    );
    expect(await codeOf(create("b", fromSnapshot(snapshot.id)))).toBe(Code.OutOfRange);
    expect(await codeOf(create("b", { ...fromSnapshot(snapshot.id), capacityRange: gib(2) }))).toBe("ok");
    expect(await codeOf(create("c", fromSnapshot(MISSING)))).toBe(Code.NotFound);
  });

  test("is UNAVAILABLE for a backup that Cinder still makes", async () => {
    const { volumeId } = await create("a");
    world.simulator.setDelay("backup.create", 60_000);
    const { id } = await world.cloud.blockStorage.backups.create({ volume_id: volumeId, name: "slow" });
    expect(await codeOf(create("b", fromSnapshot(id)))).toBe(Code.Unavailable);
  });
});

describe("a read of Cinder volumes", () => {
  test("returns a volume's servers and condition, or NOT_FOUND", async () => {
    const [{ volumeId }, nodeId] = [await create("a"), await world.server("n1")];
    const get = () => driver.client.controller.controllerGetVolume({ volumeId });
    await driver.client.controller.controllerPublishVolume({ volumeId, nodeId, volumeCapability: fileSystem });
    expect((await get()).status).toMatchObject({ publishedNodeIds: [nodeId], volumeCondition: { abnormal: false } });
    await world.admin.blockStorage.volumeActions.resetStatus(volumeId, "error_extending");
    expect((await get()).status?.volumeCondition).toMatchObject({ abnormal: true });
    expect(await codeOf(driver.client.controller.controllerGetVolume({ volumeId: MISSING }))).toBe(Code.NotFound);
  });

  test("refuses a negative number of entries and the token of an unknown cloud", async () => {
    const { controller } = driver.client;
    expect(await codeOf(controller.listVolumes({ maxEntries: -1 }))).toBe(Code.InvalidArgument);
    expect(await codeOf(controller.listSnapshots({ maxEntries: -1 }))).toBe(Code.InvalidArgument);
    expect(await codeOf(controller.listVolumes({ startingToken: `${MISSING}:other` }))).toBe(Code.Aborted);
  });

  test("confirms what a volume can do, and says what it cannot", async () => {
    await world.admin.blockStorage.volumeTypes.create({ name: "shared", extra_specs: { multiattach: "<is> True" } });
    const [plain, shared] = [await create("a"), await create("b", { parameters: { type: "shared" } })];
    const mode = (each: typeof fileSystem | typeof blockDevice, of: Mode) => ({ ...each, accessMode: { mode: of } });
    const confirms = async (volumeId: string, capability: object) => {
      const request = { volumeId, volumeCapabilities: [capability] };
      const { confirmed, message } = await driver.client.controller.validateVolumeCapabilities(request);
      return confirmed ? true : message.replace(/.*capability: /, "");
    };
    const single = mode(fileSystem, Mode.SINGLE_NODE_SINGLE_WRITER);
    expect(await confirms(plain.volumeId, single)).toBe(true);
    expect(await confirms(plain.volumeId, blockDevice)).toMatch(/type does not allow multiattach/);
    expect(await confirms(shared.volumeId, blockDevice)).toBe(true);
    expect(await confirms(shared.volumeId, mode(fileSystem, Mode.MULTI_NODE_READER_ONLY))).toBe(true);
    expect(await confirms(shared.volumeId, mode(fileSystem, Mode.MULTI_NODE_MULTI_WRITER))).toMatch(/several nodes/);
  });
});

describe("ControllerExpandVolume", () => {
  const expand = (volumeId: string, capacityRange: object, by = driver) =>
    by.client.controller.controllerExpandVolume({ volumeId, capacityRange });

  test("refuses a limit below the required size, and is done for a volume that is large enough", async () => {
    const { volumeId } = await create("a", { capacityRange: gib(3) });
    expect(await codeOf(expand(volumeId, { ...gib(4), limitBytes: 1024n ** 3n }))).toBe(Code.OutOfRange);
    expect((await expand(volumeId, gib(2))).capacityBytes).toBe(3n * 1024n ** 3n);
    expect(await codeOf(expand(MISSING, gib(2)))).toBe(Code.NotFound);
  });

  test("does not extend an attached volume with ignore-volume-microversion", async () => {
    const by = await world.driver({ storage: { ignoreVolumeMicroversion: true } });
    const [{ volumeId }, nodeId] = [await create("a"), await world.server("n1")];
    await by.client.controller.controllerPublishVolume({ volumeId, nodeId, volumeCapability: fileSystem });
    expect(await codeOf(expand(volumeId, gib(2), by))).toBe(Code.FailedPrecondition);
    await by.client.controller.controllerUnpublishVolume({ volumeId, nodeId });
    expect(await codeOf(expand(volumeId, gib(2), by))).toBe("ok");
  });
});

describe("snapshots of Cinder volumes", () => {
  test("of an attached volume need force-create no more: Cinder takes them, and records the claim", async () => {
    const [{ volumeId }, nodeId] = [await create("a"), await world.server("n1")];
    await driver.client.controller.controllerPublishVolume({ volumeId, nodeId, volumeCapability: fileSystem });
    const names = {
      "csi.storage.k8s.io/volumesnapshot/name": "s",
      "csi.storage.k8s.io/volumesnapshot/namespace": "shop",
      "csi.storage.k8s.io/volumesnapshotcontent/name": "content",
    };
    const parameters = { ...names, "force-create": "true" };
    const sent = vi.spyOn(driver.cloud.blockStorage.snapshots, "create");
    const { snapshot } = await driver.client.controller.createSnapshot({
      name: "s",
      sourceVolumeId: volumeId,
      parameters,
    });
    expect(sent.mock.calls[0]?.[0]).toMatchObject({ force: true });
    const { metadata } = await world.cloud.blockStorage.snapshots.get(snapshot?.snapshotId ?? "");
    expect(metadata).toEqual({ ...names, "cinder.csi.openstack.org/cluster": "test" });
    const plain = { name: "t", sourceVolumeId: volumeId };
    expect(await codeOf(driver.client.controller.createSnapshot(plain))).toBe("ok");
    expect(sent.mock.calls[1]?.[0]).not.toHaveProperty("force");
  });

  test("are listed when they are available, and returned by ID with their own readiness", async () => {
    const { volumeId } = await create("a");
    const { controller } = driver.client;
    const { snapshot: ready } = await controller.createSnapshot({ name: "s", sourceVolumeId: volumeId });
    world.simulator.setDelay("snapshot.create", 60_000);
    const { id } = await world.cloud.blockStorage.snapshots.create({ volume_id: volumeId, name: "slow" });
    const listed = async (query: object) =>
      (await controller.listSnapshots(query)).entries.map(({ snapshot }) => [
        snapshot?.snapshotId,
        snapshot?.readyToUse,
      ]);
    expect(await listed({})).toEqual([[ready?.snapshotId, true]]);
    expect(await listed({ sourceVolumeId: volumeId })).toEqual([[ready?.snapshotId, true]]);
    expect(await listed({ snapshotId: id })).toEqual([[id, false]]);
  });

  test("that Cinder cannot delete are an error, and the next call deletes them", async () => {
    const { volumeId } = await create("a");
    const { controller } = driver.client;
    const { snapshot } = await controller.createSnapshot({ name: "s", sourceVolumeId: volumeId });
    const snapshotId = snapshot?.snapshotId ?? "";
    // Cinder accepts the deletion, and its backend fails later.
    const failing = { ...(await world.cloud.blockStorage.snapshots.get(snapshotId)), status: "error_deleting" };
    let isAccepted = false;
    world.simulator.setFaults(({ method, path, userAgent }) => {
      if (!userAgent.includes(DRIVER_AGENT) || !path.includes(snapshotId)) return undefined;
      if (method === "DELETE") isAccepted = true;
      if (method === "DELETE") return { when: "before", status: 202 };
      return isAccepted ? { when: "before", status: 200, body: { snapshot: failing } } : undefined;
    });
    expect(await codeOf(controller.deleteSnapshot({ snapshotId }))).toBe(Code.Internal);
    expect(await world.cloud.blockStorage.snapshots.all()).toHaveLength(1);
    world.simulator.setFaults(undefined);
    expect(await codeOf(controller.deleteSnapshot({ snapshotId }))).toBe("ok");
    expect(await world.cloud.blockStorage.snapshots.all()).toEqual([]);
  });

  test("as backups are in the zone of the class, and refuse a limit that is not a number", async () => {
    const { volumeId } = await create("a");
    const backup = (parameters: Record<string, string>) =>
      driver.client.controller.createSnapshot({
        name: "b",
        sourceVolumeId: volumeId,
        parameters: { type: "backup", ...parameters },
      });
    expect(await codeOf(backup({ "backup-max-duration-seconds-per-gb": "long" }))).toBe(Code.InvalidArgument);
    const sent = vi.spyOn(driver.cloud.blockStorage.backups, "create");
    const { snapshot } = await backup({ availability: "nova", "backup-max-duration-seconds-per-gb": "20" });
    expect(sent.mock.calls[0]?.[0]).toMatchObject({ availability_zone: "nova", volume_id: volumeId });
    expect((await world.cloud.blockStorage.backups.get(snapshot?.snapshotId ?? "")).availability_zone).toBe("nova");
  });
});
