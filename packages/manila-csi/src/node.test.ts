import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { Code, ConnectError, type Volume } from "@causeway/csi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld({ delay: 100 });
});
afterEach(() => world.close());

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );

async function create(driver: Driver, parameters: Record<string, string> = {}): Promise<Volume> {
  const request = {
    name: "pvc-1",
    capacityRange: gib(1),
    volumeCapabilities: [fileSystem],
    secrets: world.secrets(),
    parameters,
  };
  const { volume } = await driver.client.controller.createVolume(request);
  if (!volume) throw new Error("no volume in the response");
  return volume;
}

const ofVolume = ({ volumeId, volumeContext }: Volume) => ({
  volumeId,
  volumeContext,
  volumeCapability: fileSystem,
  secrets: world.secrets(),
});

const both = { services: ["controller", "node"] as const };

test("the Manila node plugin forwards the publication of an NFS share with its server and path, and no secret", async () => {
  const proxied = await world.proxied(false);
  const runtimeConfigFile = join(world.dir, "runtime.json");
  const driver = await world.driver({ ...both, runtimeConfigFile });
  const volume = await create(driver);
  const publish = (target: string) =>
    driver.client.node.nodePublishVolume({ ...ofVolume(volume), targetPath: join(world.dir, target) });
  await publish("a");
  writeFileSync(runtimeConfigFile, '{"nfs": {"matchExportLocationAddress": "10.0.0.16/28"}}');
  await publish("b");
  const share = `/shares/share-${volume.volumeId}`;
  expect(proxied.calls.map(({ method, context, secrets }) => [method, context, secrets])).toEqual([
    ["publish", { server: "10.0.0.10", share }, {}],
    ["publish", { server: "10.0.0.20", share }, {}],
  ]);
  writeFileSync(runtimeConfigFile, '{"nfs": {"matchExportLocationAddress": "10.9.0.1"}}');
  expect(await codeOf(publish("c"))).toBe(Code.InvalidArgument);
});

test("the Manila node plugin forwards the staging of a CephFS share with its user's key, and reads it once", async () => {
  const proxied = await world.proxied(true);
  const driver = await world.driver({ ...both, protocol: "CEPHFS" });
  const volume = await create(driver, { "cephfs-mounter": "kernel", "cephfs-kernelMountOptions": "ms_mode=secure" });
  const [rule] = await world.cloud.sharedFileSystem.accessRules(volume.volumeId);
  const stagingTargetPath = join(world.dir, "staging");
  await driver.client.node.nodeStageVolume({ ...ofVolume(volume), stagingTargetPath });
  const before = world.simulator.calls.filter(({ userAgent }) => userAgent.includes(DRIVER_AGENT)).length;
  const target = { ...ofVolume(volume), stagingTargetPath, targetPath: join(world.dir, "pod") };
  await driver.client.node.nodePublishVolume(target);
  expect(world.simulator.calls.filter(({ userAgent }) => userAgent.includes(DRIVER_AGENT))).toHaveLength(before);
  const context = {
    monitors: "10.0.0.30:6789,10.0.0.31:6789",
    rootPath: expect.stringMatching(/^\/volumes\/_nogroup\//),
    mounter: "kernel",
    provisionVolume: "false",
    kernelMountOptions: "ms_mode=secure",
    fsName: "cephfs",
  };
  expect(proxied.calls.map(({ method, context: given, secrets }) => [method, given, secrets])).toEqual([
    ["stage", context, { userID: "pvc-1", userKey: rule?.access_key }],
    ["publish", context, {}],
  ]);
  await driver.client.node.nodeUnpublishVolume({ volumeId: volume.volumeId, targetPath: target.targetPath });
  await driver.client.node.nodeUnstageVolume({ volumeId: volume.volumeId, stagingTargetPath });
  expect(proxied.calls.slice(2).map(({ method }) => method)).toEqual(["unpublish", "unstage"]);
});

test("stages with the key that the share has now, after a stage that failed", async () => {
  const proxied = await world.proxied(true);
  const driver = await world.driver({ ...both, protocol: "CEPHFS" });
  const volume = await create(driver);
  const request = { ...ofVolume(volume), stagingTargetPath: join(world.dir, "staging") };
  await proxied.close();
  expect(await codeOf(driver.client.node.nodeStageVolume(request))).toBe(Code.Unavailable);
  const manila = world.cloud.sharedFileSystem;
  const [old] = await manila.accessRules(volume.volumeId);
  await manila.deny(volume.volumeId, old?.id ?? "");
  for (let count = 0; count < 200 && (await manila.accessRules(volume.volumeId)).length > 0; count += 1)
    await world.clock.sleep(1_000);
  const again = await world.proxied(true);
  // The rule is gone, and with it the key.
  expect(await codeOf(driver.client.node.nodeStageVolume(request))).toBe(Code.FailedPrecondition);
  expect(again.calls).toEqual([]);
});

test("the Manila node plugin publishes after a restart between staging and publishing", async () => {
  await world.proxied(true);
  const driver = await world.driver({ ...both, protocol: "CEPHFS" });
  const volume = await create(driver);
  const stagingTargetPath = join(world.dir, "staging");
  await driver.client.node.nodeStageVolume({ ...ofVolume(volume), stagingTargetPath });
  await driver.close();
  const next = await world.driver({ ...both, protocol: "CEPHFS" });
  const targetPath = join(world.dir, "pod");
  await next.client.node.nodePublishVolume({ ...ofVolume(volume), stagingTargetPath, targetPath });
});

test("stages a static volume by the share's name, with the access rule as older drivers have it", async () => {
  const proxied = await world.proxied(true);
  const driver = await world.driver({ ...both, protocol: "CEPHFS" });
  const volume = await create(driver);
  const [rule] = await world.cloud.sharedFileSystem.accessRules(volume.volumeId);
  const volumeContext = { shareName: "pvc-1", shareAccessID: rule?.id ?? "" };
  const stagingTargetPath = join(world.dir, "staging");
  await driver.client.node.nodeStageVolume({
    ...ofVolume(volume),
    volumeId: "by-hand",
    volumeContext,
    stagingTargetPath,
  });
  expect(proxied.calls[0]).toMatchObject({ method: "stage", secrets: { userID: "pvc-1", userKey: rule?.access_key } });
  const unknown = { shareName: "none", shareAccessID: "x" };
  const request = { ...ofVolume(volume), volumeId: "other", volumeContext: unknown, stagingTargetPath };
  expect(await codeOf(driver.client.node.nodeStageVolume(request))).toBe(Code.NotFound);
});

test("the Manila node plugin reports an access rule that the share does not have, and continues to serve", async () => {
  await world.proxied(true);
  const driver = await world.driver({ ...both, protocol: "CEPHFS" });
  const volume = await create(driver);
  const stagingTargetPath = join(world.dir, "staging");
  const stage = (volumeContext: Record<string, string>) =>
    driver.client.node.nodeStageVolume({ ...ofVolume(volume), volumeContext, stagingTargetPath });
  expect(await codeOf(stage({ ...volume.volumeContext, shareAccessIDs: "missing" }))).toBe(Code.FailedPrecondition);
  expect(await codeOf(stage({ shareName: "pvc-1", shareID: volume.volumeId }))).toBe(Code.InvalidArgument);
  expect(await codeOf(stage({ shareID: "missing" }))).toBe(Code.NotFound);
  expect(await codeOf(stage(volume.volumeContext))).toBe("ok");
});

test("the Manila node plugin reports a proxied driver that does not run, and works when it was restarted", async () => {
  const driver = await world.driver(both);
  const volume = await create(driver);
  const request = { ...ofVolume(volume), targetPath: join(world.dir, "pod") };
  expect(await codeOf(driver.client.node.nodePublishVolume(request))).toBe(Code.Unavailable);
  expect(await codeOf(driver.client.identity.probe({}))).toBe(Code.FailedPrecondition);
  const first = await world.proxied(false);
  await driver.client.node.nodePublishVolume(request);
  await first.close();
  expect(await codeOf(driver.client.node.nodePublishVolume(request))).toBe(Code.Unavailable);
  await world.proxied(false);
  await driver.client.node.nodePublishVolume(request);
  expect(await driver.client.identity.probe({})).toMatchObject({ ready: true });
});

test("the Manila node plugin has the capabilities of the proxied driver, and the server's ID and zone", async () => {
  await world.proxied(true);
  const driver = await world.driver({
    services: ["node"],
    withTopology: true,
    driverName: "nfs.manila.csi.openstack.org",
  });
  expect((await driver.client.node.nodeGetCapabilities({})).capabilities).toHaveLength(2);
  expect(await driver.client.node.nodeGetInfo({})).toMatchObject({
    nodeId: "server-1",
    accessibleTopology: { segments: { "topology.manila.csi.openstack.org/zone": "nova" } },
  });
  expect(await driver.client.identity.getPluginInfo({})).toMatchObject({
    name: "nfs.manila.csi.openstack.org",
    vendorVersion: "0.9.0@0",
  });
  expect(await codeOf(driver.client.controller.controllerGetCapabilities({}))).toBe(Code.Unimplemented);
});
