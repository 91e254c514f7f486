import { Code, ConnectError } from "@causeway/csi";
import type { CallRecord, Fault } from "@causeway/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DRIVER_AGENT, fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

let world: World;
let driver: Driver;
beforeEach(async () => {
  world = await openWorld();
  driver = await world.driver();
});
afterEach(() => world.close());

const create = async (name: string, more: object = {}, by = driver) => {
  const request = { name, capacityRange: gib(1), volumeCapabilities: [fileSystem], secrets: world.secrets(), ...more };
  const { volume } = await by.client.controller.createVolume(request);
  if (!volume) throw new Error("no volume in the response");
  return volume;
};
const remove = (volumeId: string) => driver.client.controller.deleteVolume({ volumeId, secrets: world.secrets() });
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );
const calls = (method: string, path: RegExp) =>
  world.simulator.calls.filter(
    (call) => call.userAgent.includes(DRIVER_AGENT) && call.method === method && path.test(call.path),
  );
const once = (matches: (call: CallRecord) => boolean, fault: Fault) => {
  let left = 1;
  world.simulator.setFaults((call) => {
    if (!call.userAgent.includes(DRIVER_AGENT) || left === 0 || !matches(call)) return undefined;
    left -= 1;
    return fault;
  });
};
const shares = () => world.cloud.sharedFileSystem.shares.all();

describe("CreateVolume", () => {
  test("creates an NFS share with an access rule for each client", async () => {
    const volume = await create("pvc-1", {
      parameters: {
        "nfs-shareClient": "10.0.0.0/8,192.168.0.0/16",
        appendShareMetadata: '{"team": "storage", "csi.storage.k8s.io/pvc/name": "not this"}',
        "csi.storage.k8s.io/pvc/name": "claim",
      },
      capacityRange: { requiredBytes: 1_288_490_189n },
    });
    expect(volume.capacityBytes).toBe(2n * 1024n ** 3n);
    const [share] = await shares();
    expect(share).toMatchObject({
      id: volume.volumeId,
      name: "pvc-1",
      size: 2,
      share_proto: "NFS",
      status: "available",
    });
    expect(share?.description).toBe("provisioned-by=manila.csi.openstack.org");
    expect(share?.metadata).toEqual({
      team: "storage",
      "csi.storage.k8s.io/pvc/name": "claim",
      "manila.csi.openstack.org/cluster": "test",
    });
    const rules = await world.cloud.sharedFileSystem.accessRules(volume.volumeId);
    expect(rules.map(({ access_to, access_level, state }) => [access_to, access_level, state])).toEqual([
      ["10.0.0.0/8", "rw", "active"],
      ["192.168.0.0/16", "rw", "active"],
    ]);
    expect(volume.volumeContext).toEqual({
      shareID: volume.volumeId,
      shareAccessIDs: rules.map(({ id }) => id).join(","),
      "cephfs-mounter": "fuse",
    });
  });

  test("uses one token and few calls for several shares of one credential, and lists once for those that wait together", async () => {
    await Promise.all(["a", "b", "c", "d", "e", "f"].map((name) => create(name)));
    expect(calls("POST", /auth\/tokens/)).toHaveLength(1);
    expect(calls("GET", /^\/v2\/?$|^\/?$/).length).toBeLessThanOrEqual(2);
    expect(calls("POST", /shares$/)).toHaveLength(6);
    expect(calls("GET", /\/shares\/[\da-f-]{36}$/).length).toBeLessThanOrEqual(2);
  });

  test("keeps the credentials of two projects apart", async () => {
    await create("one");
    await create("one", { secrets: world.secrets("alt") });
    const named = (project: string) => world.simulator.inventory(project).filter((line) => line.startsWith("share "));
    expect([named("demo").length, named("alt").length]).toEqual([1, 1]);
  });

  test("returns the share of an earlier call, and refuses other properties", async () => {
    const first = await create("pvc-1");
    expect((await create("pvc-1")).volumeId).toBe(first.volumeId);
    expect(calls("POST", /shares$/)).toHaveLength(1);
    expect(await codeOf(create("pvc-1", { capacityRange: gib(2) }))).toBe(Code.AlreadyExists);
  });

  test("finds the share after the answer to its creation was lost", async () => {
    once((call) => call.method === "POST" && call.path.endsWith("/shares"), { when: "after", cut: true });
    const volume = await create("pvc-1");
    expect((await shares()).map(({ id }) => id)).toEqual([volume.volumeId]);
  });

  test("creates one share when two controllers create it at the same time", async () => {
    const other = await world.driver();
    const results = await Promise.allSettled([create("pvc-1"), create("pvc-1", {}, other)]);
    let again = await create("pvc-1").catch(() => undefined);
    for (let left = 20; left > 0 && !again; left -= 1) {
      await world.clock.sleep(500);
      again = await create("pvc-1").catch(() => undefined);
    }
    if (!again) throw new Error("the share is never created");
    expect((await shares()).map(({ id }) => id)).toEqual([again.volumeId]);
    for (const result of results) {
      if (result.status === "fulfilled") expect(result.value.volumeId).toBe(again.volumeId);
    }
  });

  test.each([
    ["no backend is up", { name: "doomed" }, Code.ResourceExhausted],
    ["the type requires what no backend has", { name: "odd", parameters: { type: "strange" } }, Code.InvalidArgument],
    ["no backend has the room", { name: "huge", capacityRange: gib(200_000) }, Code.OutOfRange],
  ])("deletes a failed share and reports the reason when %s", async (_, more, code) => {
    const admin = await world.cloud.projectId();
    world.simulator.setOutcomes([{ operation: "share.create", name: "doomed", outcome: "error" }]);
    world.simulator.setQuota(admin, "share_gigabytes", -1);
    const path = `${world.dir}/clouds.yaml`;
    const { connectCloud, loadCloudsYaml } = await import("@causeway/openstack");
    const operator = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", path }), { clock: world.clock });
    await operator.sharedFileSystem.shareTypes.create({
      name: "strange",
      extra_specs: { driver_handles_share_servers: "False", dedupe: "True" },
    });
    await operator.close();
    expect(await codeOf(create("", more))).toBe(code);
    for (let left = 50; left > 0 && (await shares()).length > 0; left -= 1) await world.clock.sleep(500);
    expect(await shares()).toEqual([]);
  });

  test("refuses block volumes, clones, unknown values and missing secrets", async () => {
    const block = { accessType: { case: "block" as const, value: {} }, accessMode: fileSystem.accessMode };
    const clone = { volumeContentSource: { type: { case: "volume" as const, value: { volumeId: "x" } } } };
    expect(await codeOf(create("a", { volumeCapabilities: [block] }))).toBe(Code.InvalidArgument);
    expect(await codeOf(create("a", clone))).toBe(Code.Unimplemented);
    expect(await codeOf(create("a", { parameters: { "cephfs-mounter": "nfs" } }))).toBe(Code.InvalidArgument);
    expect(await codeOf(create("a", { parameters: { type: "" } }))).toBe(Code.InvalidArgument);
    expect(await codeOf(create("a", { parameters: { appendShareMetadata: "[1]" } }))).toBe(Code.InvalidArgument);
    expect(await codeOf(create("a", { secrets: {} }))).toBe(Code.InvalidArgument);
    expect(await codeOf(create("a", { capacityRange: { requiredBytes: 1n, limitBytes: 2n } }))).toBe(Code.OutOfRange);
    expect(await codeOf(create("a", { secrets: { ...world.secrets(), "os-password": "wrong" } }))).toBe(
      Code.Unauthenticated,
    );
    expect(await shares()).toEqual([]);
  });

  test("places the share by the claim's annotations", async () => {
    const neighbor = await create("neighbor");
    const annotated = await world.driver({
      claimAnnotations: () =>
        Promise.resolve({
          "manila.csi.openstack.org/affinity": "neighbor",
          "manila.csi.openstack.org/anti-affinity": neighbor.volumeId,
        }),
    });
    const parameters = { "csi.storage.k8s.io/pvc/name": "c", "csi.storage.k8s.io/pvc/namespace": "n" };
    const volume = await create("pvc-1", { parameters }, annotated);
    expect(volume.volumeContext).toMatchObject({ affinity: neighbor.volumeId, antiAffinity: neighbor.volumeId });
    const missing = await world.driver({
      claimAnnotations: () => Promise.resolve({ "manila.csi.openstack.org/affinity": "nothing" }),
    });
    expect(await codeOf(create("pvc-2", { parameters }, missing))).toBe(Code.InvalidArgument);
  });

  test("uses the node's zone with autoTopology, and returns all preferred zones without it", async () => {
    const by = await world.driver({ withTopology: true });
    const zone = (name: string) => ({ segments: { "topology.manila.csi.openstack.org/zone": name } });
    const accessibilityRequirements = { requisite: [], preferred: [zone("nova"), zone("other")] };
    const own = await create("a", { accessibilityRequirements, parameters: { autoTopology: "true" } }, by);
    expect(own.accessibleTopology.map(({ segments }) => segments)).toEqual([zone("nova").segments]);
    const all = await create("b", { accessibilityRequirements }, by);
    expect(all.accessibleTopology).toHaveLength(2);
  });
});

describe("CephFS", () => {
  test("creates a Ceph user and waits for its key", async () => {
    const ceph = await world.driver({ protocol: "cephfs" });
    const volume = await create("pvc-1", { parameters: { "cephfs-clientID": "alice,bob" } }, ceph);
    const rules = await world.cloud.sharedFileSystem.accessRules(volume.volumeId);
    expect(rules.map(({ access_type, access_to }) => [access_type, access_to])).toEqual([["cephx", "alice"]]);
    expect(rules[0]?.access_key).toMatch(/==$/);
  });
});

test("the Manila driver refuses clients that are no addresses before it makes a share", async () => {
  const parameters = { "nfs-shareClient": "10.0.0.0/8, banana" };
  expect(await codeOf(create("wrong", { parameters }))).toBe(Code.InvalidArgument);
  expect(await shares()).toEqual([]);
});

test("the Manila driver does not delete a share that has snapshots, and says so", async () => {
  const { volumeId } = await create("data");
  const request = { name: "snap", sourceVolumeId: volumeId, secrets: world.secrets() };
  await driver.client.controller.createSnapshot(request);
  const refused = remove(volumeId);
  await expect(refused).rejects.toThrow(/has 1 snapshots and is not deleted/);
  expect(await codeOf(refused)).toBe(Code.FailedPrecondition);
  expect(await shares()).toHaveLength(1);
});

test("the Manila driver deletes a share, and reports when Manila cannot", async () => {
  const { volumeId } = await create("pvc-1");
  world.simulator.setOutcomes([{ operation: "share.delete", outcome: "error" }]);
  expect(await codeOf(remove(volumeId))).toBe(Code.Internal);
  world.simulator.setOutcomes([]);
  expect(await codeOf(remove(volumeId))).toBe("ok");
  expect(await shares()).toEqual([]);
  expect(await codeOf(remove(volumeId))).toBe("ok");
});

test("the Manila driver extends a share, and reports a failure of Manila", async () => {
  const { volumeId } = await create("pvc-1");
  const expand = (required: number) =>
    driver.client.controller.controllerExpandVolume({
      volumeId,
      capacityRange: gib(required),
      secrets: world.secrets(),
    });
  expect(await expand(3)).toMatchObject({ capacityBytes: 3n * 1024n ** 3n, nodeExpansionRequired: false });
  expect((await expand(2)).capacityBytes).toBe(3n * 1024n ** 3n);
  expect(calls("POST", /action$/)).toHaveLength(2);
  expect(await codeOf(expand(5_000))).toBe(Code.ResourceExhausted);
  world.simulator.setOutcomes([{ operation: "share.extend", outcome: "error" }]);
  expect(await codeOf(expand(4))).toBe(Code.Internal);
});

describe("snapshots of Manila shares", () => {
  const snapshot = (name: string, sourceVolumeId: string) =>
    driver.client.controller.createSnapshot({ name, sourceVolumeId, secrets: world.secrets() });

  test("are created, restored and deleted", async () => {
    const { volumeId } = await create("pvc-1");
    const of = (snapshotId = "") => ({
      volumeContentSource: { type: { case: "snapshot" as const, value: { snapshotId } } },
    });
    world.simulator.setOutcomes([{ operation: "share.snapshot", name: "slow", outcome: "stuck" }]);
    const slow = await snapshot("slow", volumeId);
    expect(slow.snapshot?.readyToUse).toBe(false);
    expect(await codeOf(create("early", of(slow.snapshot?.snapshotId)))).toBe(Code.Unavailable);
    const snapshotId = (await snapshot("snap", volumeId)).snapshot?.snapshotId ?? "";
    const source = of(snapshotId);
    for (let left = 50; left > 0; left -= 1) {
      if ((await snapshot("snap", volumeId)).snapshot?.readyToUse === true) break;
      await world.clock.sleep(500);
    }
    expect(calls("POST", /snapshots$/)).toHaveLength(2);
    const copy = await create("copy", source);
    expect(await world.cloud.sharedFileSystem.shares.get(copy.volumeId)).toMatchObject({ snapshot_id: snapshotId });
    expect(await codeOf(create("pvc-1", source))).toBe(Code.AlreadyExists);
    await driver.client.controller.deleteSnapshot({ snapshotId, secrets: world.secrets() });
    expect((await world.cloud.sharedFileSystem.snapshots.all()).map(({ name }) => name)).toEqual(["slow"]);
  });

  test("are deleted as soon as Manila has created them, which refuses it before", async () => {
    const { volumeId } = await create("pvc-1");
    world.simulator.setDelay("share.snapshot", 20_000);
    const made = await snapshot("snap", volumeId);
    const snapshotId = made.snapshot?.snapshotId ?? "";
    expect(made.snapshot?.readyToUse).toBe(false);
    await expect(world.cloud.sharedFileSystem.snapshots.delete(snapshotId)).rejects.toThrow(/status must be one of/);
    await driver.client.controller.deleteSnapshot({ snapshotId, secrets: world.secrets() });
    await driver.client.controller.deleteSnapshot({ snapshotId, secrets: world.secrets() });
    expect(await world.cloud.sharedFileSystem.snapshots.all()).toEqual([]);
  });

  test("are refused for another share of the name, for a missing share and in status error", async () => {
    const [one, two] = [await create("one"), await create("two")];
    await snapshot("snap", one.volumeId);
    expect(await codeOf(snapshot("snap", two.volumeId))).toBe(Code.AlreadyExists);
    expect(await codeOf(snapshot("other", "nothing"))).toBe(Code.NotFound);
    world.simulator.setOutcomes([{ operation: "share.snapshot", name: "doomed", outcome: "error" }]);
    await snapshot("doomed", one.volumeId);
    await world.clock.sleep(3_000);
    expect(await codeOf(snapshot("doomed", one.volumeId))).toBe(Code.Internal);
  });
});

test("the Manila driver confirms every access mode of a file system, and no block device", async () => {
  const { volumeId } = await create("pvc-1");
  const validate = (volumeCapabilities: object[]) =>
    driver.client.controller.validateVolumeCapabilities({ volumeId, volumeCapabilities, secrets: world.secrets() });
  expect((await validate([fileSystem])).confirmed).toBeDefined();
  const block = { accessType: { case: "block" as const, value: {} }, accessMode: fileSystem.accessMode };
  expect((await validate([block])).message).toMatch(/block device/);
});
