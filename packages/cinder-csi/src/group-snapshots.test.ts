import { Code, ConnectError } from "@causeway/csi";
import type { CallRecord } from "@causeway/simulator";
import { seeded, seededIds } from "@causeway/foundation/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

let world: World;
let driver: Driver;
const open = async (newId?: () => string) => {
  world = await openWorld({ ...(newId && { newId }) });
  driver = await world.driver();
};
afterEach(() => world.close());

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );
async function volumes(count = 2): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => `pvc-${at}`);
  const request = { capacityRange: gib(1), volumeCapabilities: [fileSystem] };
  const made = await Promise.all(names.map((name) => driver.client.controller.createVolume({ ...request, name })));
  return made.map(({ volume }) => volume?.volumeId ?? "").toSorted();
}
async function grouped(ids: readonly string[]): Promise<string> {
  const { blockStorage } = world.cloud;
  const [type] = await world.admin.blockStorage.groupTypes.all();
  const group = { name: "g", group_type: type?.id ?? "", volume_types: ["__DEFAULT__"] };
  const { id } = await blockStorage.createGroup(group);
  await blockStorage.changeGroup(id, { add_volumes: ids.join(",") });
  return id;
}
const parameters = { "group-type": "default_cgsnapshot_type" };
const snapshot = (sourceVolumeIds: string[], more: object = {}, by = driver) =>
  by.client.groupController.createVolumeGroupSnapshot({ name: "gs-1", sourceVolumeIds, parameters, ...more });
const posts = (path: RegExp) =>
  world.simulator.calls.filter((call) => isOurs(call) && call.method === "POST" && path.test(call.path));
const isOurs = ({ userAgent }: CallRecord) => userAgent.includes(DRIVER_AGENT);

describe("snapshots of the volumes of one Cinder group", () => {
  beforeEach(() => open());

  test("are one group snapshot, which repeated calls return", async () => {
    const ids = await volumes();
    await grouped(ids);
    const { groupSnapshot } = await snapshot(ids);
    expect(groupSnapshot?.readyToUse).toBe(true);
    expect(groupSnapshot?.snapshots.map(({ sourceVolumeId }) => sourceVolumeId).toSorted()).toEqual(ids);
    const groupSnapshotId = groupSnapshot?.groupSnapshotId ?? "";
    expect(new Set(groupSnapshot?.snapshots.map((each) => each.groupSnapshotId))).toEqual(new Set([groupSnapshotId]));
    expect((await snapshot(ids)).groupSnapshot?.groupSnapshotId).toBe(groupSnapshotId);
    expect(posts(/\/group_snapshots$/)).toHaveLength(1);
    const read = await driver.client.groupController.getVolumeGroupSnapshot({ groupSnapshotId });
    expect(read.groupSnapshot?.snapshots).toHaveLength(2);
    const [member] = await world.cloud.blockStorage.snapshots.all();
    expect(member?.metadata).toEqual({ "cinder.csi.openstack.org/cluster": "test" });
  });

  test("have members that are deleted with the group snapshot only", async () => {
    const ids = await volumes();
    await grouped(ids);
    const { groupSnapshot } = await snapshot(ids);
    const snapshotIds = groupSnapshot?.snapshots.map(({ snapshotId }) => snapshotId) ?? [];
    const [snapshotId = ""] = snapshotIds;
    expect(await codeOf(driver.client.controller.deleteSnapshot({ snapshotId }))).toBe(Code.InvalidArgument);
    const { deleteVolumeGroupSnapshot } = driver.client.groupController;
    const groupSnapshotId = groupSnapshot?.groupSnapshotId ?? "";
    expect(await codeOf(deleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds: [snapshotId] }))).toBe(
      Code.InvalidArgument,
    );
    await deleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds });
    await deleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds });
    expect(await world.cloud.blockStorage.snapshots.all()).toEqual([]);
    for (const volumeId of ids) await driver.client.controller.deleteVolume({ volumeId });
    expect(await world.cloud.blockStorage.volumes.all()).toEqual([]);
  });

  test("are refused where they would not be consistent, or would have other volumes", async () => {
    const ids = await volumes(3);
    expect(await codeOf(snapshot(ids))).toBe(Code.FailedPrecondition);
    await grouped(ids);
    expect(await codeOf(snapshot(ids.slice(1)))).toBe(Code.FailedPrecondition);
    expect(await codeOf(snapshot(ids, { parameters: {} }))).toBe(Code.FailedPrecondition);
    expect(await codeOf(snapshot([...ids, "00000000-0000-4000-8000-000000000000"]))).toBe(Code.NotFound);
    expect(posts(/snapshots$/)).toHaveLength(0);
    await snapshot(ids);
    expect(await codeOf(snapshot(ids.slice(1)))).toBe(Code.AlreadyExists);
  });
});

describe("snapshots with consistency: volume", () => {
  beforeEach(() => open());
  const one = { parameters: { consistency: "volume" } };

  test("are one of each volume, and are deleted together", async () => {
    const ids = await volumes(3);
    const { groupSnapshot } = await snapshot(ids, one);
    expect(groupSnapshot?.snapshots).toHaveLength(3);
    expect((await snapshot(ids.toReversed(), one)).groupSnapshot?.groupSnapshotId).toBe("volumes:gs-1");
    expect(posts(/\/snapshots$/)).toHaveLength(3);
    expect(await codeOf(snapshot(ids.slice(1), one))).toBe(Code.AlreadyExists);
    await driver.client.groupController.deleteVolumeGroupSnapshot({ groupSnapshotId: "volumes:gs-1" });
    expect(await world.cloud.blockStorage.snapshots.all()).toEqual([]);
  });

  test("are refused with another value, without volumes and with too many", async () => {
    expect(await codeOf(snapshot(["a"], { parameters: { consistency: "none" } }))).toBe(Code.InvalidArgument);
    expect(await codeOf(snapshot([], one))).toBe(Code.InvalidArgument);
    const many = Array.from({ length: 101 }, (_, at) => `v${at}`);
    expect(await codeOf(snapshot(many, one))).toBe(Code.InvalidArgument);
  });
});

const seed = process.env["CAUSEWAY_CSI_SEED"];
const count = Number(process.env["CAUSEWAY_CSI_GROUPS"] ?? 6);
const seeds = seed === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(seed)];

/** Lost answers, refused calls, two controllers at once, and a controller that is killed. */
test.each(seeds)("no group snapshot is doubled or left behind in schedule %i", { timeout: 120_000 }, async (start) => {
  const random = vi.spyOn(Math, "random").mockImplementation(seeded(start));
  await open(seededIds(start));
  const [next, nextFault] = [seeded(start), seeded(start + 1_000_000)];
  const ids = await volumes(3);
  const isGrouped = next() < 0.5;
  if (isGrouped) await grouped(ids);
  const more = isGrouped ? {} : { parameters: { consistency: "volume" } };
  let drivers = [driver, await world.driver()];
  world.simulator.setFaults((call) => {
    if (!isOurs(call) || call.service === "identity" || nextFault() > 0.25) return undefined;
    const when = nextFault() < 0.5 ? "before" : "after";
    return nextFault() < 0.5 ? { when, cut: true } : { when, status: nextFault() < 0.5 ? 500 : 503 };
  });
  const returned = new Set<string>();
  const keep = (result: Awaited<ReturnType<typeof snapshot>>) => {
    const { groupSnapshot } = result;
    const members = groupSnapshot?.snapshots.map(({ snapshotId }) => snapshotId).toSorted() ?? [];
    returned.add([groupSnapshot?.groupSnapshotId, ...members].join(" "));
  };
  for (let step = 0; step < 8; step += 1) {
    const both = next() < 0.5 ? drivers : drivers.slice(0, 1);
    await Promise.all(both.map((each) => snapshot(ids, more, each).then(keep, () => {})));
    if (next() < 0.3) {
      await drivers[0]?.close();
      drivers = [...drivers.slice(1), await world.driver()];
    }
  }
  world.simulator.setFaults(undefined);
  for (let failures = 0, isDone = false; !isDone; failures += 1) {
    const result = await snapshot(ids, more, drivers[0]).catch((error: unknown) => {
      if (failures > 12) throw error;
      return world.clock.sleep(60_000);
    });
    if (result) keep(result);
    isDone = result !== undefined;
  }
  expect([...returned]).toHaveLength(1);
  const [groupSnapshotId = ""] = [...returned].map((each) => each.split(" ")[0] ?? "");
  const found = await world.cloud.blockStorage.snapshots.all();
  const kept = found.filter(({ status }) => status !== "deleting");
  expect(kept.map(({ volume_id }) => volume_id).toSorted()).toEqual(ids);
  await drivers[0]?.client.groupController.deleteVolumeGroupSnapshot({ groupSnapshotId });
  expect(await world.cloud.blockStorage.snapshots.all()).toEqual([]);
  expect(await world.cloud.blockStorage.groupSnapshots.all()).toEqual([]);
  random.mockRestore();
});
