/** What calls of the driver cost the cloud when many are made at once, as sidecars do. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

const COUNT = 10;
const names = Array.from({ length: COUNT }, (_, at) => `pvc-${at}`);

let world: World;
let driver: Driver;
beforeEach(async () => {
  world = await openWorld();
  driver = await world.driver();
});
afterEach(() => world.close());

/** The driver's calls since then, by method. */
function counted(): () => Readonly<Record<string, number>> {
  const own = () =>
    world.simulator.calls.filter((call) => call.userAgent.includes(DRIVER_AGENT) && call.service !== "identity");
  const before = own().length;
  return () => {
    const counts: Record<string, number> = {};
    for (const { method } of own().slice(before)) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  };
}

async function createAll(): Promise<readonly string[]> {
  const created = await Promise.all(
    names.map((name) =>
      driver.client.controller.createVolume({ name, capacityRange: gib(1), volumeCapabilities: [fileSystem] }),
    ),
  );
  return created.map(({ volume }) => volume?.volumeId ?? "");
}

test("a volume costs a create, and volumes that are created at once share the search for their names and the lists", async () => {
  const calls = counted();
  await createAll();
  const { GET = 0, POST = 0 } = calls();
  expect(POST).toBe(COUNT);
  expect(GET).toBeLessThan(10);
});

test("a volume alone is searched by its name", async () => {
  const begun = world.simulator.calls.length;
  const request = { name: "alone", capacityRange: gib(1), volumeCapabilities: [fileSystem] };
  await driver.client.controller.createVolume(request);
  const searches = world.simulator.calls.slice(begun).filter(({ path }) => path.includes("name=alone"));
  expect(searches.map(({ method }) => method)).toEqual(["GET"]);
});

test("an attachment and a detachment cost one call each, and share the lists", async () => {
  const nodeId = await world.server("node");
  const ids = await createAll();
  const calls = counted();
  const { controllerPublishVolume, controllerUnpublishVolume } = driver.client.controller;
  await Promise.all(ids.map((volumeId) => controllerPublishVolume({ volumeId, nodeId, volumeCapability: fileSystem })));
  await Promise.all(ids.map((volumeId) => controllerUnpublishVolume({ volumeId, nodeId })));
  const { GET = 0, POST = 0, DELETE = 0 } = calls();
  expect([POST, DELETE]).toEqual([COUNT, COUNT]);
  expect(GET).toBeLessThan(20);
});

test("an idle driver lists ever less often while volumes are attached, and sees a detachment by hand", async () => {
  const [volumeId = ""] = await createAll();
  const { listVolumes, controllerPublishVolume } = driver.client.controller;
  const minutes = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      await world.clock.sleep(60_000);
      await listVolumes({});
    }
  };
  await minutes(2);
  const unattached = counted();
  await minutes(10);
  expect(unattached()).toEqual({});
  const nodeId = await world.server("node");
  await controllerPublishVolume({ volumeId, nodeId, volumeCapability: fileSystem });
  const active = counted();
  await minutes(1);
  expect(active()).toEqual({ GET: 1 });
  await minutes(30);
  const still = counted();
  await minutes(60);
  // An hour of upstream's are sixty, or a hundred and twenty with more than a thousand volumes.
  expect(still()["GET"]).toBeLessThanOrEqual(6);
  await world.cloud.compute.volumeAttachments(nodeId).detach(volumeId);
  await minutes(15);
  const { entries } = await listVolumes({});
  const found = entries.find(({ volume }) => volume?.volumeId === volumeId);
  expect(found?.status?.publishedNodeIds).toEqual([]);
});

test("a snapshot costs one call, and snapshots that are created at once share the lists", async () => {
  const ids = await createAll();
  const calls = counted();
  const created = await Promise.all(
    ids.map((sourceVolumeId, at) => driver.client.controller.createSnapshot({ name: `s-${at}`, sourceVolumeId })),
  );
  expect(created.every(({ snapshot }) => snapshot?.readyToUse === true)).toBe(true);
  expect(new Set(created.map(({ snapshot }) => snapshot?.snapshotId)).size).toBe(COUNT);
  const { GET = 0, POST = 0 } = calls();
  expect(POST).toBe(COUNT);
  expect(GET).toBeLessThan(12);
});

test("the capacity of any number of classes costs two calls in five minutes where pools are for administrators", async () => {
  const { getCapacity } = driver.client.controller;
  await getCapacity({});
  const calls = counted();
  await Promise.all(names.map((type) => getCapacity({ parameters: { type } })));
  expect(calls()).toEqual({});
  await world.clock.sleep(6 * 60_000);
  await Promise.all(names.map((type) => getCapacity({ parameters: { type } })));
  expect(calls()).toEqual({ GET: 1 });
});

test("a snapshot of a volume that was deleted a moment ago is refused with NOT_FOUND", async () => {
  const [sourceVolumeId = ""] = await createAll();
  await world.cloud.blockStorage.volumes.delete(sourceVolumeId);
  await expect.poll(() => world.cloud.blockStorage.volumes.find(sourceVolumeId), { timeout: 10_000 }).toBeUndefined();
  await expect(driver.client.controller.createSnapshot({ name: "late", sourceVolumeId })).rejects.toThrow(/not_found/);
});
