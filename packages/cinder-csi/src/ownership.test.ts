/** Clusters that share a project: what the users of one can reach by the IDs of another's objects. */
import { Code, ConnectError } from "@causeway/csi";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );
const cluster = (clusterId: string) => world.driver({ clusterId, owner: { hasServer: () => true } });
async function volumeOf(driver: Driver, name: string): Promise<string> {
  const request = { name, capacityRange: gib(1), volumeCapabilities: [fileSystem] };
  return (await driver.client.controller.createVolume(request)).volume?.volumeId ?? "";
}
/** The first such request of a driver fails. */
function failOnce(path: RegExp, status: number): void {
  let left = 1;
  world.simulator.setFaults((call) => {
    if (left === 0 || !call.userAgent.includes(DRIVER_AGENT) || !path.test(call.path)) return undefined;
    left -= 1;
    return { when: "before", status };
  });
}

test("a backup that cannot be read is not deleted as one that does not exist", async () => {
  const [one, two] = [await cluster("one"), await cluster("two")];
  const volumeId = await volumeOf(one, "pvc-1");
  const parameters = { type: "backup", "force-create": "true" };
  const { snapshot } = await one.client.controller.createSnapshot({ name: "b", sourceVolumeId: volumeId, parameters });
  const snapshotId = snapshot?.snapshotId ?? "";
  const { backups } = world.cloud.blockStorage;
  await world.eventually(async () => (await backups.get(snapshotId)).status === "available");
  // Not repeated by the client, as a timeout of a proxy is.
  failOnce(/\/backups\//, 403);
  expect(await codeOf(two.client.controller.deleteSnapshot({ snapshotId }))).toBe(Code.PermissionDenied);
  expect(await codeOf(two.client.controller.deleteSnapshot({ snapshotId }))).toBe(Code.PermissionDenied);
  expect((await backups.get(snapshotId)).status).toBe("available");
});

test("a volume that the check did not find is not given to the controller", async () => {
  const [one, two] = [await cluster("one"), await cluster("two")];
  const server = await world.server("s");
  const volumeId = await volumeOf(one, "pvc-1");
  await two.volumes.refresh();
  const { controller } = two.client;
  const attempts: readonly (readonly [string, () => Promise<unknown>, unknown])[] = [
    [
      "publish",
      () => controller.controllerPublishVolume({ volumeId, nodeId: server, volumeCapability: fileSystem }),
      Code.NotFound,
    ],
    ["delete", () => controller.deleteVolume({ volumeId }), "ok"],
    ["unpublish", () => controller.controllerUnpublishVolume({ volumeId, nodeId: server }), "ok"],
    ["expand", () => controller.controllerExpandVolume({ volumeId, capacityRange: gib(2) }), Code.NotFound],
    ["modify", () => controller.controllerModifyVolume({ volumeId, mutableParameters: {} }), Code.NotFound],
    ["snapshot", () => controller.createSnapshot({ name: "s", sourceVolumeId: volumeId }), Code.NotFound],
  ];
  for (const [name, attempt, expected] of attempts) {
    failOnce(/\/volumes\//, 404);
    expect([name, await codeOf(attempt())]).toEqual([name, expected]);
  }
  expect(await world.cloud.blockStorage.volumes.get(volumeId)).toMatchObject({ size: 1, status: "available" });
  expect(await world.cloud.blockStorage.snapshots.all()).toEqual([]);
});

describe("group snapshots of the Cinder driver", () => {
  const consistency = { parameters: { consistency: "volume" } };

  async function cinderGroup(driver: Driver, name: string): Promise<string> {
    const { blockStorage } = world.cloud;
    const [type] = await world.admin.blockStorage.groupTypes.all();
    const group = { name, group_type: type?.id ?? "", volume_types: ["__DEFAULT__"] };
    const { id } = await blockStorage.createGroup(group);
    const volumeId = await volumeOf(driver, `pvc-${name}`);
    await blockStorage.changeGroup(id, { add_volumes: volumeId });
    const parameters = { "group-type": "default_cgsnapshot_type" };
    const request = { name, sourceVolumeIds: [volumeId], parameters };
    const { groupSnapshot } = await driver.client.groupController.createVolumeGroupSnapshot(request);
    return groupSnapshot?.groupSnapshotId ?? "";
  }

  test("of another cluster are neither read nor deleted, even when their members were renamed", async () => {
    const [one, two] = [await cluster("one"), await cluster("two")];
    const groupSnapshotId = await cinderGroup(one, "g");
    const { blockStorage } = world.cloud;
    const attempts = () => [
      two.client.groupController.getVolumeGroupSnapshot({ groupSnapshotId }),
      two.client.groupController.deleteVolumeGroupSnapshot({ groupSnapshotId }),
    ];
    expect(await Promise.all(attempts().map(codeOf))).toEqual([Code.PermissionDenied, Code.PermissionDenied]);
    for (const { id } of await blockStorage.snapshots.all()) await blockStorage.snapshots.update(id, { name: "mine" });
    expect(await Promise.all(attempts().map(codeOf))).toEqual([Code.PermissionDenied, Code.PermissionDenied]);
    expect((await blockStorage.groupSnapshots.get(groupSnapshotId)).status).toBe("available");
    const read = await one.client.groupController.getVolumeGroupSnapshot({ groupSnapshotId });
    expect(read.groupSnapshot?.snapshots).toHaveLength(1);
    expect(await codeOf(one.client.groupController.deleteVolumeGroupSnapshot({ groupSnapshotId }))).toBe("ok");
    expect(await blockStorage.groupSnapshots.all()).toEqual([]);
  });

  test("without members are of no cluster", async () => {
    const [one, two] = [await cluster("one"), await cluster("two")];
    const groupSnapshotId = await cinderGroup(one, "g");
    world.simulator.setFaults((call) =>
      call.userAgent.includes(DRIVER_AGENT) && call.path.endsWith("/snapshots/detail")
        ? { when: "before", status: 200, body: { snapshots: [] } }
        : undefined,
    );
    const attempt = two.client.groupController.deleteVolumeGroupSnapshot({ groupSnapshotId });
    expect(await codeOf(attempt)).toBe(Code.PermissionDenied);
    expect((await world.cloud.blockStorage.groupSnapshots.get(groupSnapshotId)).status).toBe("available");
  });

  test("whose ID is a name have neither snapshots without a name nor those of another program", async () => {
    const one = await world.driver();
    const volumeId = await volumeOf(one, "pvc-1");
    const { snapshots } = world.cloud.blockStorage;
    const make = (name: string) => snapshots.create({ volume_id: volumeId, name });
    const made = [await make(""), await make("by-hand")];
    await world.eventually(async () => (await snapshots.all()).every(({ status }) => status === "available"));
    const { groupController } = one.client;
    for (const groupSnapshotId of ["volumes:", "volumes:by-hand"]) {
      expect(await codeOf(groupController.getVolumeGroupSnapshot({ groupSnapshotId }))).toBe(Code.NotFound);
      expect(await codeOf(groupController.deleteVolumeGroupSnapshot({ groupSnapshotId }))).toBe("ok");
    }
    expect((await snapshots.all()).map(({ id }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    const request = { name: "own", sourceVolumeIds: [volumeId], ...consistency };
    await groupController.createVolumeGroupSnapshot(request);
    expect(await codeOf(groupController.deleteVolumeGroupSnapshot({ groupSnapshotId: "volumes:own" }))).toBe("ok");
    expect(await snapshots.all()).toHaveLength(2);
  });
});
