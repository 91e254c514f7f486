/**
 * The Cinder driver's volumes with bytes on a real cloud: what is written is read again, by checksum, after
 * detachments, growth, snapshots, clones and backups. Needs tools/devcloud on this machine, whose servers' disks are
 * loop devices here, and root.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VolumeCapability_AccessMode_Mode as Mode } from "@causeway/csi";
import { until, watchCloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openRealPlace, type RealPlace } from "../csi/real-place.ts";

const MIB = 1024 ** 2;
const missing =
  process.getuid?.() === 0
    ? existsSync("/run/devcloud")
      ? undefined
      : "this cloud's disks are not on this machine"
    : "mounting needs root";

const gib = (count: number) => ({ requiredBytes: BigInt(count) * 1024n ** 3n });
const accessMode = { mode: Mode.SINGLE_NODE_WRITER };
const mounted = (fsType: string) => ({ accessType: { case: "mount" as const, value: { fsType } }, accessMode });
const block = { accessType: { case: "block" as const, value: {} }, accessMode };
type Capability = ReturnType<typeof mounted> | typeof block;

/** Bytes that no other volume has. */
function content(seed: string, bytes: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at * 32 < bytes; at += 1) pieces.push(createHash("sha256").update(`${seed} ${at}`).digest());
  return Buffer.concat(pieces).subarray(0, bytes);
}
const hasCapability = (bit: bigint): boolean => {
  const effective = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> bit) & 1n) === 1n;
};
const checksum = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("volumes with bytes", () => {
  if (missing !== undefined) {
    test.skip(`checksums (${missing})`);
    return;
  }
  let place: RealPlace;
  const volumes = new Set<string>();
  const snapshots: string[] = [];

  beforeAll(async () => {
    place = await openRealPlace(process.env["OS_CLOUD"] ?? "devcloud");
  });
  afterAll(async () => {
    const { controller } = place.client;
    for (const volumeId of volumes) await controller.controllerUnpublishVolume({ volumeId, nodeId: place.server });
    for (const snapshotId of snapshots) await controller.deleteSnapshot({ snapshotId });
    for (const volumeId of volumes) await controller.deleteVolume({ volumeId });
    await place.close();
  });

  async function create(name: string, capability: Capability, more: object = {}): Promise<string> {
    const request = {
      name: `csi-bytes-${process.pid}-${name}`,
      capacityRange: gib(1),
      volumeCapabilities: [capability],
      ...more,
    };
    const { volume } = await place.client.controller.createVolume(request);
    const id = volume?.volumeId ?? "";
    volumes.add(id);
    return id;
  }

  /** Attaches, stages and publishes the volume, does the work at its path, and undoes all of it. */
  async function used<T>(
    volumeId: string,
    volumeCapability: Capability,
    work: (path: string) => T | Promise<T>,
  ): Promise<T> {
    const { controller, node } = place.client;
    const nodeId = place.server;
    const { publishContext } = await controller.controllerPublishVolume({ volumeId, nodeId, volumeCapability });
    const stagingTargetPath = join(place.dir, "staging", volumeId);
    const targetPath = join(place.dir, "target", volumeId);
    for (const path of [stagingTargetPath, join(targetPath, "..")]) mkdirSync(path, { recursive: true });
    const request = { volumeId, publishContext, stagingTargetPath, volumeCapability };
    await node.nodeStageVolume(request);
    await node.nodePublishVolume({ ...request, targetPath });
    const result = await work(targetPath);
    await node.nodeUnpublishVolume({ volumeId, targetPath });
    await node.nodeUnstageVolume({ volumeId, stagingTargetPath });
    await controller.controllerUnpublishVolume({ volumeId, nodeId });
    rmSync(stagingTargetPath, { recursive: true, force: true });
    return result;
  }

  const write = (name: string) => (path: string) => {
    const bytes = content(name, 3 * MIB + 17);
    writeFileSync(join(path, "data"), bytes, { flush: true });
    return checksum(bytes);
  };
  const read = (path: string) => checksum(readFileSync(join(path, "data")));
  const sizeOf = (path: string) =>
    Number(execFileSync("df", ["--block-size=1M", "--output=size", path], { encoding: "utf8" }).split("\n")[1]);

  async function snapshot(name: string, sourceVolumeId: string, parameters: Record<string, string> = {}) {
    const request = { name: `csi-bytes-${process.pid}-${name}`, sourceVolumeId, parameters };
    for (;;) {
      const { snapshot: made } = await place.client.controller.createSnapshot(request);
      if (!made) throw new Error("no snapshot was created");
      if (!snapshots.includes(made.snapshotId)) snapshots.push(made.snapshotId);
      if (made.readyToUse) return made.snapshotId;
      await new Promise((done) => setTimeout(done, 1_000));
    }
  }

  test.for(["ext4", "xfs"])(
    "a file on %s is the same after a detachment, in a snapshot and in a clone",
    async (fsType) => {
      const capability = mounted(fsType);
      const id = await create(fsType, capability);
      const written = await used(id, capability, write(fsType));
      expect(await used(id, capability, read)).toBe(written);
      const snapshotId = await snapshot(fsType, id);
      const changed = await used(id, capability, write(`${fsType} changed`));
      expect(changed).not.toBe(written);
      const fromSnapshot = await create(`${fsType}-restored`, capability, {
        volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } },
      });
      expect(await used(fromSnapshot, capability, read)).toBe(written);
      const fromVolume = await create(`${fsType}-cloned`, capability, {
        volumeContentSource: { type: { case: "volume", value: { volumeId: id } } },
      });
      expect(await used(fromVolume, capability, read)).toBe(changed);
    },
  );

  test.for(["ext4", "xfs"])(
    "a file on %s is the same after its volume has grown while it was used",
    async (fsType, { skip }) => {
      // The kernel grows a mounted ext4 for CAP_SYS_RESOURCE only, which a container's root may not have.
      if (fsType === "ext4" && !hasCapability(24n)) skip("no CAP_SYS_RESOURCE");
      const capability = mounted(fsType);
      const id = await create(`${fsType}-grown`, capability);
      const written = await used(id, capability, write(fsType));
      const grown = await used(id, capability, async (path) => {
        const before = sizeOf(path);
        const { nodeExpansionRequired } = await place.client.controller.controllerExpandVolume({
          volumeId: id,
          capacityRange: gib(2),
          volumeCapability: capability,
        });
        expect(nodeExpansionRequired).toBe(true);
        // Nova announces the new size a moment after Cinder has it; the kubelet repeats the call, too.
        await vi.waitFor(
          () => place.client.node.nodeExpandVolume({ volumeId: id, volumePath: path, capacityRange: gib(2) }),
          { timeout: 60_000, interval: 1_000 },
        );
        expect(sizeOf(path)).toBeGreaterThan(before * 1.8);
        return read(path);
      });
      expect(grown).toBe(written);
      expect(await used(id, capability, read)).toBe(written);
    },
  );

  test("a block device has the bytes that were written to it before it was detached", async () => {
    const id = await create("block", block);
    const bytes = content("block", 4 * MIB);
    await used(id, block, (path) => writeFileSync(path, bytes, { flag: "r+", flush: true }));
    const found = await used(id, block, (path) =>
      execFileSync("dd", [`if=${path}`, "bs=1M", "count=4", "status=none"], { maxBuffer: 8 * MIB }),
    );
    expect(checksum(found)).toBe(checksum(bytes));
  });

  test("a volume of a backup has the file that its source had", async () => {
    const capability = mounted("ext4");
    const id = await create("backed-up", capability);
    const written = await used(id, capability, write("backup"));
    const snapshotId = await snapshot("backup", id, { type: "backup" });
    const restored = await create("from-backup", capability, {
      volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } },
    });
    expect(await used(restored, capability, read)).toBe(written);
  });

  test("a deleted server leaves no device, and its volume is attached to another one", async () => {
    const watch = watchCloud(place.cloud);
    const id = await create("moved", mounted("ext4"));
    const written = await used(id, mounted("ext4"), write("moved"));
    const [flavor] = (await place.cloud.compute.flavors.all()).toSorted((a, b) => a.ram - b.ram);
    const [image] = await place.cloud.image.images.all({ name: "cirros" });
    const body = { name: "csi-bytes-gone", flavorRef: flavor?.id ?? "", imageRef: image?.id ?? "" };
    const { id: nodeId } = await place.cloud.compute.servers.create({ ...body, networks: "none" });
    await until(watch.servers, nodeId, (server) => server?.status === "ACTIVE");
    const request = { volumeId: id, nodeId, volumeCapability: mounted("ext4") };
    await place.client.controller.controllerPublishVolume(request);
    expect(existsSync(join("/run/devcloud", nodeId, "by-id", `virtio-${id.slice(0, 20)}`))).toBe(true);
    await place.cloud.compute.servers.delete(nodeId);
    await until(watch.servers, nodeId, (server) => server === undefined);
    await watch.close();
    expect(existsSync(join("/run/devcloud", nodeId))).toBe(false);
    expect(await used(id, mounted("ext4"), read)).toBe(written);
  });
});
