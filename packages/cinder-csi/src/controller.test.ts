import { Code, ConnectError } from "@causeway/csi";
import type { CallRecord, Fault } from "@causeway/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { blockDevice, DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

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
const calls = (method: string, path: RegExp) =>
  world.simulator.calls.filter(
    (call) => call.userAgent.includes(DRIVER_AGENT) && call.method === method && path.test(call.path),
  );
const publish = (
  volumeId: string,
  nodeId: string,
  volumeCapability: typeof fileSystem | typeof blockDevice = fileSystem,
  by = driver,
) => by.client.controller.controllerPublishVolume({ volumeId, nodeId, volumeCapability });
const unpublish = (volumeId: string, nodeId: string) =>
  driver.client.controller.controllerUnpublishVolume({ volumeId, nodeId });
const once = (matches: (call: CallRecord) => boolean, fault: Fault) => {
  let left = 1;
  world.simulator.setFaults((call) => {
    if (!call.userAgent.includes(DRIVER_AGENT) || left === 0 || !matches(call)) return undefined;
    left -= 1;
    return fault;
  });
};

describe("CreateVolume", () => {
  test("rounds up to whole GiB and waits until the volume is available", async () => {
    const volume = await create("pvc-1", { capacityRange: { requiredBytes: 1_288_490_189n } });
    expect(volume.capacityBytes).toBe(2n * 1024n ** 3n);
    expect(volume.accessibleTopology[0]?.segments).toEqual({ "topology.cinder.csi.openstack.org/zone": "nova" });
    expect(await world.cloud.blockStorage.volumes.get(volume.volumeId)).toMatchObject({
      name: "pvc-1",
      size: 2,
      status: "available",
      description: "Created by OpenStack Cinder CSI driver",
      metadata: { "cinder.csi.openstack.org/cluster": "test" },
    });
  });

  test("returns the same volume to a repeated call, with one POST", async () => {
    const [first, second] = [await create("pvc-1"), await create("pvc-1")];
    expect(second.volumeId).toBe(first.volumeId);
    expect(calls("POST", /\/volumes$/)).toHaveLength(1);
    expect(await codeOf(create("pvc-1", { capacityRange: gib(2) }))).toBe(Code.AlreadyExists);
  });

  test("finds the volume of a request whose answer was lost", async () => {
    once(({ method, path }) => method === "POST" && path.endsWith("/volumes"), { when: "after", cut: true });
    const volume = await create("pvc-1");
    expect((await world.cloud.blockStorage.volumes.all()).map(({ id }) => id)).toEqual([volume.volumeId]);
  });

  test("deletes a volume that Cinder could not create, and creates another at the next call", async () => {
    world.simulator.setOutcomes([{ operation: "volume.create", name: "pvc-1", outcome: "error" }]);
    expect(await codeOf(create("pvc-1"))).toBe(Code.Internal);
    world.simulator.setOutcomes([]);
    await world.eventually(async () => (await world.cloud.blockStorage.volumes.all()).length === 0);
    const { volumeId } = await create("pvc-1");
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).status).toBe("available");
  });

  test("leaves one volume when two controllers create it at once", async () => {
    const other = await world.driver();
    const both = await Promise.allSettled([create("pvc-1"), create("pvc-1", {}, other)]);
    const returned = both.flatMap((each) => (each.status === "fulfilled" ? [each.value.volumeId] : []));
    const { volumeId } = await create("pvc-1");
    for (const id of returned) expect(id).toBe(volumeId);
    await world.eventually(async () => (await world.cloud.blockStorage.volumes.all()).length === 1);
  });

  test("refuses an unknown cloud, a limit below the rounded size and a missing source", async () => {
    expect(await codeOf(create("a", { secrets: { cloud: "unknown" } }))).toBe(Code.InvalidArgument);
    expect(await codeOf(create("a", { capacityRange: { ...gib(1), limitBytes: 1n } }))).toBe(Code.OutOfRange);
    const missing = { volumeContentSource: { type: { case: "volume", value: { volumeId: "none" } } } };
    expect(await codeOf(create("a", missing))).toBe(Code.NotFound);
    expect(await world.cloud.blockStorage.volumes.all()).toEqual([]);
  });

  test("returns RESOURCE_EXHAUSTED when the quota is used up", async () => {
    world.simulator.setQuota("demo", "volumes", 0);
    expect(await codeOf(create("a"))).toBe(Code.ResourceExhausted);
  });

  test("passes type and zone, and prefers the zone of the class to that of the topology", async () => {
    const accessibilityRequirements = {
      preferred: [{ segments: { "topology.cinder.csi.openstack.org/zone": "az2" } }],
    };
    const inTopology = await create("a", { accessibilityRequirements });
    const inClass = await create("b", { accessibilityRequirements, parameters: { availability: "nova" } });
    const zoneOf = async (id: string) => (await world.cloud.blockStorage.volumes.get(id)).availability_zone;
    expect([await zoneOf(inTopology.volumeId), await zoneOf(inClass.volumeId)]).toEqual(["az2", "nova"]);
  });

  test("clones a volume, and requires its file system to grow", async () => {
    const source = await create("a");
    const content = { volumeContentSource: { type: { case: "volume", value: { volumeId: source.volumeId } } } };
    const clone = await create("b", { ...content, capacityRange: gib(2) });
    expect(clone.volumeContext["cinder.csi.openstack.org/resizeRequired"]).toBe("true");
    expect((await create("b", { ...content, capacityRange: gib(2) })).volumeId).toBe(clone.volumeId);
    expect(await codeOf(create("b", { capacityRange: gib(2) }))).toBe(Code.AlreadyExists);
  });

  test("resolves the volumes of affinity annotations", async () => {
    const near = await create("near");
    const annotations = { "cinder.csi.openstack.org/affinity": "near" };
    const annotated = await world.driver({ claimAnnotations: () => Promise.resolve(annotations) });
    const parameters = { "csi.storage.k8s.io/pvc/name": "claim", "csi.storage.k8s.io/pvc/namespace": "default" };
    expect((await create("a", { parameters }, annotated)).volumeContext["affinity"]).toBe(near.volumeId);
    annotations["cinder.csi.openstack.org/affinity"] = "unknown";
    expect(await codeOf(create("b", { parameters }, annotated))).toBe(Code.InvalidArgument);
  });
});

describe("ControllerPublishVolume of the Cinder driver", () => {
  test("attaches once, and returns the device to a repeated call", async () => {
    const [{ volumeId }, node] = [await create("a"), await world.server("n1")];
    const first = await publish(volumeId, node);
    expect(first.publishContext["DevicePath"]).toMatch(/^\/dev\//);
    expect((await publish(volumeId, node)).publishContext).toEqual(first.publishContext);
    expect(calls("POST", /os-volume_attachments$/)).toHaveLength(1);
    await unpublish(volumeId, node);
    await unpublish(volumeId, node);
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).status).toBe("available");
  });

  test("costs lists for many volumes of one server, not a call for each poll", async () => {
    const node = await world.server("n1");
    const volumes = await Promise.all(Array.from({ length: 12 }, (_, at) => create(`v${at}`)));
    const before = calls("GET", /./).length;
    await Promise.all(volumes.map(({ volumeId }) => publish(volumeId, node)));
    await Promise.all(volumes.map(({ volumeId }) => unpublish(volumeId, node)));
    expect(calls("GET", /\/volumes\/[0-9a-f-]{36}$/).length).toBe(0);
    // Upstream's driver makes at least nine GETs for each volume that it attaches and detaches.
    expect(calls("GET", /./).length - before).toBeLessThan(12 * 4);
  });

  test("reports missing volumes and servers", async () => {
    const node = await world.server("n1");
    const { volumeId } = await create("a");
    expect(await codeOf(publish("0e3a5b6c-0000-4000-8000-000000000000", node))).toBe(Code.NotFound);
    expect(await codeOf(publish(volumeId, "0e3a5b6c-0000-4000-8000-000000000000"))).toBe(Code.NotFound);
    await unpublish("0e3a5b6c-0000-4000-8000-000000000000", node);
    await unpublish(volumeId, "0e3a5b6c-0000-4000-8000-000000000000");
  });

  test("does not attach a volume to a second server", async () => {
    const [{ volumeId }, one, two] = [await create("a"), await world.server("n1"), await world.server("n2")];
    await publish(volumeId, one);
    expect(await codeOf(publish(volumeId, two))).toBe(Code.FailedPrecondition);
    expect(await codeOf(driver.client.controller.deleteVolume({ volumeId }))).toBe(Code.FailedPrecondition);
  });

  test("attaches a multiattach volume to several servers as a block device only", async () => {
    const type = { name: "shared", extra_specs: { multiattach: "<is> True" } };
    await world.admin.blockStorage.volumeTypes.create(type);
    const [{ volumeId }, one, two] = [
      await create("a", { parameters: { type: "shared" } }),
      await world.server("n1"),
      await world.server("n2"),
    ];
    await publish(volumeId, one, blockDevice);
    expect(await codeOf(publish(volumeId, two, fileSystem))).toBe(Code.FailedPrecondition);
    await publish(volumeId, two, blockDevice);
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).attachments).toHaveLength(2);
    await unpublish(volumeId, "");
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).attachments).toEqual([]);
  });

  test("completes an attach whose answer was lost", async () => {
    const [{ volumeId }, node] = [await create("a"), await world.server("n1")];
    once(({ method, path }) => method === "POST" && path.includes("os-volume_attachments"), {
      when: "after",
      cut: true,
    });
    await publish(volumeId, node);
    expect(calls("POST", /os-volume_attachments$/)).toHaveLength(1);
  });

  test("recovers a volume that a failed attach left reserved", async () => {
    const [{ volumeId }, node] = [await create("a"), await world.server("n1")];
    await world.cloud.blockStorage.attachments.create({ volume_uuid: volumeId, instance_uuid: node });
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).status).toBe("reserved");
    await publish(volumeId, node);
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).attachments.map((a) => a.server_id)).toEqual([node]);
  });

  test("releases a reserved volume when it is to be detached", async () => {
    const [{ volumeId }, node] = [await create("a"), await world.server("n1")];
    await world.cloud.blockStorage.attachments.create({ volume_uuid: volumeId, instance_uuid: node });
    await unpublish(volumeId, node);
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).status).toBe("available");
  });

  test("releases the volume of a server that is gone, though Cinder still has the attachment", async () => {
    const [{ volumeId }, gone] = [await create("a"), "0e3a5b6c-0000-4000-8000-000000000000"];
    const { id } = await world.cloud.blockStorage.attachments.create({
      volume_uuid: volumeId,
      instance_uuid: gone,
      connector: { host: "h" },
    });
    await world.cloud.blockStorage.completeAttachment(id);
    await driver.volumes.refresh();
    await unpublish(volumeId, gone);
    expect(await world.cloud.blockStorage.volumes.get(volumeId)).toMatchObject({
      status: "available",
      attachments: [],
    });
  });

  test("attaches a volume that another controller has just released", async () => {
    const other = await world.driver();
    const [{ volumeId }, one, two] = [await create("a"), await world.server("n1"), await world.server("n2")];
    await publish(volumeId, one, fileSystem, other);
    await driver.volumes.refresh();
    await other.client.controller.controllerUnpublishVolume({ volumeId, nodeId: one });
    await publish(volumeId, two);
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).attachments.map((a) => a.server_id)).toEqual([two]);
  });
});

describe("a change of a Cinder volume", () => {
  test("deletes, and succeeds when there is nothing to delete", async () => {
    const { volumeId } = await create("a");
    await driver.client.controller.deleteVolume({ volumeId });
    await driver.client.controller.deleteVolume({ volumeId });
    expect(await world.cloud.blockStorage.volumes.all()).toEqual([]);
  });

  test("expands an attached volume once", async () => {
    const [{ volumeId }, node] = [await create("a"), await world.server("n1")];
    await publish(volumeId, node);
    const expand = () =>
      driver.client.controller.controllerExpandVolume({
        volumeId,
        capacityRange: gib(3),
        volumeCapability: fileSystem,
      });
    expect(await expand()).toMatchObject({ capacityBytes: 3n * 1024n ** 3n, nodeExpansionRequired: true });
    await expand();
    expect(calls("POST", /\/action$/)).toHaveLength(1);
    const block = { volumeId, capacityRange: gib(3), volumeCapability: blockDevice };
    expect((await driver.client.controller.controllerExpandVolume(block)).nodeExpansionRequired).toBe(false);
  });

  test("retypes a volume for a VolumeAttributesClass", async () => {
    await world.admin.blockStorage.volumeTypes.create({ name: "quick" });
    const { volumeId } = await create("a");
    const modify = (mutableParameters: Record<string, string>) =>
      driver.client.controller.controllerModifyVolume({ volumeId, mutableParameters });
    await modify({ type: "quick" });
    await modify({ type: "quick" });
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).volume_type).toBe("quick");
    expect(await codeOf(modify({ iops: "1" }))).toBe(Code.InvalidArgument);
  });

  test("lists volumes page by page, though the last one of a page is deleted", async () => {
    const ids = (await Promise.all(["a", "b", "c"].map((name) => create(name)))).map(({ volumeId }) => volumeId);
    const first = await driver.client.controller.listVolumes({ maxEntries: 2 });
    const last = first.entries[1]?.volume?.volumeId ?? "";
    await driver.client.controller.deleteVolume({ volumeId: last });
    const second = await driver.client.controller.listVolumes({ maxEntries: 2, startingToken: first.nextToken });
    const listed = [...first.entries, ...second.entries].map(({ volume }) => volume?.volumeId);
    expect(listed).toEqual(ids.toSorted());
    expect(second.nextToken).toBe("");
    expect(await codeOf(driver.client.controller.listVolumes({ startingToken: "x" }))).toBe(Code.Aborted);
  });

  test("reports what the quota leaves as capacity", async () => {
    world.simulator.setQuota("demo", "gigabytes", 10);
    await create("a", { capacityRange: gib(4) });
    expect((await driver.client.controller.getCapacity({})).availableCapacity).toBe(6n * 1024n ** 3n);
  });
});

describe("CreateSnapshot of the Cinder driver", () => {
  const snapshot = async (name: string, sourceVolumeId: string, parameters: Record<string, string> = {}) =>
    (await driver.client.controller.createSnapshot({ name, sourceVolumeId, parameters })).snapshot;

  test("creates one for repeated calls, and a volume of it", async () => {
    const { volumeId } = await create("a");
    const first = await snapshot("s", volumeId);
    expect(first).toMatchObject({ readyToUse: true, sourceVolumeId: volumeId, sizeBytes: 1024n ** 3n });
    expect((await snapshot("s", volumeId))?.snapshotId).toBe(first?.snapshotId);
    const other = await create("b");
    expect(await codeOf(snapshot("s", other.volumeId))).toBe(Code.AlreadyExists);
    const snapshotId = first?.snapshotId ?? "";
    const copy = await create("c", { volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } } });
    expect((await world.cloud.blockStorage.volumes.get(copy.volumeId)).snapshot_id).toBe(snapshotId);
    await driver.client.controller.deleteSnapshot({ snapshotId });
    await driver.client.controller.deleteSnapshot({ snapshotId });
    expect(await world.cloud.blockStorage.snapshots.all()).toEqual([]);
  });

  test("makes a backup in the background, and deletes the snapshot that it was made of", async () => {
    world.simulator.setDelay("backup.create", 30_000);
    const { volumeId } = await create("a");
    const parameters = { type: "backup" };
    const first = await snapshot("s", volumeId, parameters);
    expect(first?.readyToUse).toBe(false);
    await world.eventually(async () => (await snapshot("s", volumeId, parameters))?.readyToUse === true);
    await world.eventually(async () => (await world.cloud.blockStorage.snapshots.all()).length === 0);
    const snapshotId = first?.snapshotId ?? "";
    const restored = await create("b", { volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } } });
    expect(restored.volumeContext["cinder.csi.openstack.org/resizeRequired"]).toBe("true");
    await driver.client.controller.deleteSnapshot({ snapshotId });
    expect(await world.cloud.blockStorage.backups.all()).toEqual([]);
  });

  test("refuses another type", async () => {
    const { volumeId } = await create("a");
    expect(await codeOf(snapshot("s", volumeId, { type: "image" }))).toBe(Code.InvalidArgument);
  });
});

describe("a cluster that shares its project", () => {
  const own = async (cluster: string, servers: readonly string[] = []) =>
    world.driver({ clusterId: cluster, owner: { hasServer: (id) => servers.includes(id) } });

  test("cannot delete, attach, grow, snapshot or copy another cluster's volume", async () => {
    const server = await world.server("one");
    const [one, two] = [await own("one"), await own("two", [server])];
    const { volumeId } = await create("pvc-1", {}, one);
    const { snapshot } = await one.client.controller.createSnapshot({ name: "s", sourceVolumeId: volumeId });
    const snapshotId = snapshot?.snapshotId ?? "";
    const { controller } = two.client;
    const copyOf = (type: object) => create("pvc-2", { volumeContentSource: { type } }, two);
    const attempts = [
      controller.deleteVolume({ volumeId }),
      publish(volumeId, server, fileSystem, two),
      controller.controllerUnpublishVolume({ volumeId, nodeId: server }),
      controller.controllerExpandVolume({ volumeId, capacityRange: gib(2) }),
      controller.controllerModifyVolume({ volumeId, mutableParameters: { type: "fast" } }),
      controller.createSnapshot({ name: "t", sourceVolumeId: volumeId }),
      controller.deleteSnapshot({ snapshotId }),
      controller.listSnapshots({ snapshotId }),
      copyOf({ case: "volume", value: { volumeId } }),
      copyOf({ case: "snapshot", value: { snapshotId } }),
      create("pvc-1", {}, two),
    ];
    expect(await Promise.all(attempts.map(codeOf))).toEqual(attempts.map(() => Code.PermissionDenied));
    expect(await codeOf(controller.listSnapshots({}))).toBe(Code.Unimplemented);
    expect((await world.cloud.blockStorage.volumes.get(volumeId)).status).toBe("available");
  });

  test("cannot attach its volume to another cluster's server, and can adopt a volume by its metadata", async () => {
    const [mine, foreign] = [await world.server("one"), await world.server("two")];
    const one = await own("one", [mine]);
    const { volumeId } = await create("pvc-1", {}, one);
    expect(await codeOf(publish(volumeId, foreign, fileSystem, one))).toBe(Code.PermissionDenied);
    expect(await codeOf(publish(volumeId, mine, fileSystem, one))).toBe("ok");
    const { volumes } = world.cloud.blockStorage;
    const made = await volumes.create({ name: "by-hand", size: 1 });
    expect(await codeOf(one.client.controller.deleteVolume({ volumeId: made.id }))).toBe(Code.PermissionDenied);
    await world.eventually(async () => (await volumes.get(made.id)).status === "available");
    await volumes.update(made.id, { metadata: { "cinder.csi.openstack.org/cluster": "one" } });
    expect(await codeOf(one.client.controller.deleteVolume({ volumeId: made.id }))).toBe("ok");
  });
});

describe("cases of the replaced driver", () => {
  const zone = "topology.cinder.csi.openstack.org/zone";

  test("returns the requested topology where the zones of volumes are ignored", async () => {
    const by = await world.driver({ storage: { ignoreVolumeAz: true } });
    const preferred = [{ segments: { [zone]: "rack-1" } }];
    const { accessibleTopology } = await create(
      "pvc-1",
      { accessibilityRequirements: { preferred, requisite: preferred }, parameters: { availability: "nova" } },
      by,
    );
    expect(accessibleTopology.map(({ segments }) => segments)).toEqual([{ [zone]: "rack-1" }]);
  });

  test("makes a volume of a backup, and requires its file system to grow", async () => {
    const { volumeId } = await create("pvc-1");
    const parameters = { type: "backup", "force-create": "true" };
    const back = async () => {
      const request = { name: "b", sourceVolumeId: volumeId, parameters };
      const { snapshot } = await driver.client.controller.createSnapshot(request);
      return snapshot;
    };
    await world.eventually(async () => (await back())?.readyToUse === true);
    const snapshotId = (await back())?.snapshotId ?? "";
    const copy = await create("pvc-2", { volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } } });
    expect(copy.volumeContext).toMatchObject({ "cinder.csi.openstack.org/resizeRequired": "true" });
    const { metadata } = await world.cloud.blockStorage.volumes.get(copy.volumeId);
    // Cinder replaces what the driver recorded when it has restored the backup; a repeated call finds the volume by
    // what Cinder records.
    expect(metadata).toMatchObject({ src_backup_id: snapshotId });
    const again = await create("pvc-2", { volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } } });
    expect(again.volumeId).toBe(copy.volumeId);
  });

  test("does not delete a volume that is attached", async () => {
    const server = await world.server("one");
    const { volumeId } = await create("pvc-1");
    await publish(volumeId, server);
    expect(await codeOf(driver.client.controller.deleteVolume({ volumeId }))).toBe(Code.FailedPrecondition);
    expect(calls("DELETE", /\/volumes\//)).toEqual([]);
  });

  test("refuses backups where the cloud has no backup service", async () => {
    const { volumeId } = await create("pvc-1");
    world.simulator.setFaults((call) =>
      /\/backups/.test(call.path) && call.userAgent.includes(DRIVER_AGENT)
        ? { when: "before", status: 404 }
        : undefined,
    );
    const request = { name: "b", sourceVolumeId: volumeId, parameters: { type: "backup" } };
    expect(await codeOf(driver.client.controller.createSnapshot(request))).toBe(Code.FailedPrecondition);
    expect(await world.cloud.blockStorage.snapshots.all()).toEqual([]);
  });

  test("fails to delete a volume that Cinder could not delete", async () => {
    const { volumeId } = await create("pvc-1");
    world.simulator.setDelay("volume.delete", 3_600_000);
    const deleted = codeOf(driver.client.controller.deleteVolume({ volumeId }));
    await world.eventually(async () => (await world.admin.blockStorage.volumes.get(volumeId)).status === "deleting");
    await world.admin.blockStorage.volumeActions.resetStatus(volumeId, "error_deleting");
    expect(await deleted).toBe(Code.Internal);
  });
});
