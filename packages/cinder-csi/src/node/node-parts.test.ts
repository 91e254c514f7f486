import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@causeway/foundation";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deviceNames, findDevice } from "./device.ts";
import { contentOf, fileSystemType, mountOptions, prepare } from "./file-system.ts";
import { attachLimit } from "./limit.ts";
import { parseMetadata, type CommandResult, type Host } from "@causeway/csi-openstack";
import { parseMountInfo } from "./mount-table.ts";
import { mountPath } from "./mounts.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "node-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const hostOf = (answers: Readonly<Record<string, Partial<CommandResult>>>): Host => ({
  byId: dir,
  mountInfo: "/proc/self/mountinfo",
  sys: dir,
  run: (command) => Promise.resolve({ status: 0, stdout: "", stderr: "", ...answers[command] }),
});

describe("devices of Cinder volumes", () => {
  const id = "0e3a5b6c-1111-4000-8000-000000000000";

  test("have the names that KVM, virtio-scsi and ESX give them", () => {
    expect(deviceNames(id)).toEqual([
      "virtio-0e3a5b6c-1111-4000-8",
      `virtio-${id}`,
      "scsi-0QEMU_QEMU_HARDDISK_0e3a5b6c-1111-4000-8",
      `scsi-0QEMU_QEMU_HARDDISK_${id}`,
      "wwn-0x0e3a5b6c111140008000000000000000",
    ]);
  });

  test("are searched for 30 seconds, then by the metadata service", async () => {
    // A link to something that is no block device.
    symlinkSync("/dev/null", join(dir, `virtio-${id}`));
    let now = 0;
    const clock = { now: () => now, sleep: (milliseconds: number) => Promise.resolve(void (now += milliseconds)) };
    const search = { host: hostOf({}), clock, signal: new AbortController().signal };
    await expect(findDevice(search, id)).rejects.toMatchObject({ code: "CSI_INTERNAL" });
    expect(now).toBe(30_000);
    expect(await findDevice({ ...search, fallback: () => Promise.resolve("/dev/sdz") }, id)).toBe("/dev/sdz");
  });

  test.runIf(existsSync("/dev/loop0"))("are not read from a link that leads to another volume's device", async () => {
    // A device that udev has not linked again after another volume got its name.
    symlinkSync("/dev/loop0", join(dir, "virtio-0e3a5b6c-1111-4000-8"));
    mkdirSync(join(dir, "class/block/loop0"), { recursive: true });
    const serial = join(dir, "class/block/loop0/serial");
    let now = 0;
    const clock = { now: () => now, sleep: (milliseconds: number) => Promise.resolve(void (now += milliseconds)) };
    const search = { host: hostOf({}), clock, signal: new AbortController().signal };
    writeFileSync(serial, "ffffffff-1111-4000-8\n");
    await expect(findDevice(search, id)).rejects.toMatchObject({ code: "CSI_INTERNAL" });
    for (const text of ["0e3a5b6c-1111-4000-8", `${id}\n`, ""]) {
      writeFileSync(serial, text);
      expect(await findDevice(search, id)).toBe("/dev/loop0");
    }
  });

  test.each(["", "../../etc", "a/b", "x".repeat(200)])("are not searched for the ID %j", async (bad) => {
    const search = { host: hostOf({}), clock: new VirtualClock(), signal: new AbortController().signal };
    await expect(findDevice(search, bad)).rejects.toMatchObject({ code: "CSI_NOT_FOUND" });
  });
});

describe("the content of a device", () => {
  const device = () => join(dir, "device");
  const size = { blockdev: { stdout: String(2 * 1024 * 1024) } };
  beforeEach(() => writeFileSync(device(), Buffer.alloc(2 * 1024 * 1024)));

  test("is empty when two programs find nothing", async () => {
    expect(await contentOf(hostOf({ ...size, blkid: { status: 2 } }), device())).toEqual({ type: "empty" });
  });

  test.each([
    ["a file system", { blkid: { stdout: "TYPE=ext4\nUSAGE=filesystem\n" } }, { type: "file-system", name: "ext4" }],
    [
      "an encrypted volume",
      { blkid: { stdout: "TYPE=crypto_LUKS\nUSAGE=crypto\n" } },
      { type: "other", name: "crypto_LUKS" },
    ],
    ["a partition table", { blkid: { stdout: "PTTYPE=gpt\n" } }, { type: "other", name: "partition table gpt" }],
    ["several signatures", { blkid: { status: 8 } }, { type: "other", name: "several signatures" }],
    [
      "what only wipefs knows",
      { blkid: { status: 2 }, wipefs: { stdout: "zfs_member\n" } },
      { type: "other", name: "zfs_member" },
    ],
  ])("is %s", async (_, answers, expected) => {
    expect(await contentOf(hostOf({ ...size, ...answers }), device())).toEqual(expected);
  });

  test("is not known when a program fails or the device cannot be read", async () => {
    await expect(contentOf(hostOf({ ...size, blkid: { status: 4 } }), device())).rejects.toMatchObject({
      code: "CSI_COMMAND_FAILED",
    });
    await expect(
      contentOf(hostOf({ ...size, blkid: { status: 2 }, wipefs: { status: 1 } }), device()),
    ).rejects.toMatchObject({ code: "CSI_COMMAND_FAILED" });
    await expect(contentOf(hostOf({ ...size, blkid: { status: 2 } }), join(dir, "missing"))).rejects.toThrow(/ENOENT/);
  });

  /** A copy of ext4's superblock at the begin of group 1. */
  const extCopy = (size: number, block: number, change: (copy: Buffer) => void = () => {}) => {
    const at = block * (8 * block + (block === 1024 ? 1 : 0));
    const bytes = Buffer.alloc(size);
    const copy = bytes.subarray(at);
    copy.writeUInt16LE(0xef53, 56);
    copy.writeUInt32LE(size / block, 4);
    copy.write(UUID.replaceAll("-", ""), 104, "hex");
    copy.writeUInt16LE(1, 90);
    copy.writeUInt32LE(Math.log2(block / 1024), 24);
    change(copy);
    writeFileSync(device(), bytes);
    return { blockdev: { stdout: String(size) }, blkid: { status: 2 } };
  };
  const MIB = 1024 * 1024;
  const UUID = "0e3a5b6c-1111-4000-8000-0000000000ab";

  test.each([
    ["1 KiB", 16, 1024],
    ["2 KiB", 40, 2048],
    ["4 KiB", 136, 4096],
  ])("is a damaged ext4 of %s blocks when its begin was overwritten, and is not formatted", async (_, mib, block) => {
    const host = hostOf(extCopy(mib * MIB, block));
    expect(await contentOf(host, device())).toEqual({ type: "damaged", name: "ext2, ext3 or ext4", uuid: UUID });
    const formatted: string[] = [];
    const recording: Host = {
      ...host,
      run: (command, args) => {
        if (command.startsWith("mkfs")) formatted.push(command);
        return host.run(command, args);
      },
    };
    const record = join(dir, "record");
    const prepared = () => prepare(recording, device(), { type: "ext4", readOnly: false, record });
    await expect(prepared()).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
    writeFileSync(record, "11111111-2222-4333-8444-555555555555");
    await expect(prepared()).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
    expect(formatted).toEqual([]);
    // The mkfs of this node that was killed.
    writeFileSync(record, UUID);
    await prepared();
    expect(formatted).toEqual(["mkfs.ext4"]);
    expect(existsSync(record)).toBe(false);
  });

  test("is recorded while it is formatted, until the file system is found complete", async () => {
    const record = join(dir, "record");
    const killed: Host = {
      ...hostOf({ ...size, blkid: { status: 2 } }),
      run: (command, args) => {
        if (command === "mkfs.ext4") return Promise.resolve({ status: -1, stdout: args[4] ?? "", stderr: "" });
        return hostOf({ ...size, blkid: { status: 2 } }).run(command, args);
      },
    };
    const options = { type: "ext4", readOnly: false, record };
    await expect(prepare(killed, device(), options)).rejects.toMatchObject({ code: "CSI_COMMAND_FAILED" });
    expect(readFileSync(record, "utf8")).toMatch(/^[-0-9a-f]{36}$/);
    const complete = hostOf({ ...size, blkid: { stdout: "TYPE=ext4\nUSAGE=filesystem\n" } });
    await prepare(complete, device(), options);
    expect(existsSync(record)).toBe(false);
  });

  test("is empty when what is where a copy would be is none", async () => {
    for (const change of [
      (copy: Buffer) => copy.writeUInt16LE(0xef52, 56),
      (copy: Buffer) => copy.writeUInt16LE(0, 90),
      (copy: Buffer) => copy.writeUInt32LE(2, 24),
      // Of a larger file system, low and high half.
      (copy: Buffer) => copy.writeUInt32LE(16 * 1024 + 1, 4),
      (copy: Buffer) => copy.writeUInt32LE(1, 336),
    ])
      expect(await contentOf(hostOf(extCopy(16 * MIB, 1024, change)), device())).toEqual({ type: "empty" });
  });

  test("is a damaged xfs when its second allocation group has a superblock", async () => {
    const bytes = Buffer.alloc(10 * MIB + 4096);
    // 2561 blocks are four groups of 641.
    bytes.write("XFSB", 641 * 4096);
    writeFileSync(device(), bytes);
    const host = hostOf({ blockdev: { stdout: String(bytes.length) }, blkid: { status: 2 } });
    expect(await contentOf(host, device())).toEqual({ type: "damaged", name: "xfs", uuid: "" });
  });

  test("is empty when mkfs.xfs was killed", async () => {
    const begin = Buffer.alloc(2 * 1024 * 1024);
    begin.write("XFSB");
    const host = hostOf({ ...size, blkid: { stdout: "TYPE=xfs\nUSAGE=filesystem\n" } });
    writeFileSync(device(), begin);
    expect(await contentOf(host, device())).toEqual({ type: "file-system", name: "xfs" });
    begin[126] = 1;
    writeFileSync(device(), begin);
    expect(await contentOf(host, device())).toEqual({ type: "empty" });
  });
});

test("mount tables are read with escapes, optional fields and bind mounts", () => {
  const table = [
    "36 35 98:0 /mnt1 /a\\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue",
    "37 35 0:5 /loop0 /c ro - devtmpfs udev rw",
    "not a line",
    "",
  ].join("\n");
  expect(parseMountInfo(table)).toEqual([
    { device: "98:0", root: "/mnt1", path: "/a b", options: ["rw", "noatime"], fsType: "ext3", source: "/dev/root" },
    { device: "0:5", root: "/loop0", path: "/c", options: ["ro"], fsType: "devtmpfs", source: "udev" },
  ]);
});

test("the attach limit is what is configured, at most 256, and otherwise follows the bus", () => {
  expect([attachLimit(300, []), attachLimit(0, []), attachLimit(40, ["vda"])]).toEqual([256, 256, 40]);
  expect([attachLimit(undefined, ["vda", "vdb"]), attachLimit(undefined, ["sda"])]).toEqual([24, 256]);
});

test("file systems other than ext and xfs are refused, and xfs is mounted next to its clones", () => {
  expect([fileSystemType(""), fileSystemType("xfs")]).toEqual(["ext4", "xfs"]);
  expect(() => fileSystemType("ntfs")).toThrow(/not supported/);
  expect(mountOptions("xfs", ["noatime"], true)).toEqual(["noatime", "nouuid", "ro"]);
  expect(mountOptions("ext4", [], false)).toEqual([]);
  for (const bad of ["", "a\0b", "a\nb", "a".repeat(4_096)])
    expect(() => mountOptions("ext4", [bad], false)).toThrow(/mount options/);
});

test("only absolute paths below / are mount points", () => {
  expect(mountPath("/a/b/../c/", "target path")).toBe("/a/c");
  for (const bad of ["", "/", "a", "/a/..", "/a\0b"])
    expect(() => mountPath(bad, "target path")).toThrow(/target path/);
});

test("metadata needs a uuid, and only disks with a serial count", () => {
  const disks = [
    { type: "disk", bus: "scsi", address: "1:0:0:0", serial: "v" },
    { type: "nic", bus: "pci" },
    { type: "disk" },
  ];
  expect(parseMetadata(JSON.stringify({ uuid: "u", availability_zone: "z", devices: disks }))).toEqual({
    uuid: "u",
    zone: "z",
    disks: [{ bus: "scsi", address: "1:0:0:0", serial: "v" }],
  });
  expect(() => parseMetadata("{}")).toThrow(/uuid/);
  expect(() => parseMetadata("null")).toThrow(/uuid/);
  expect(() => parseMetadata("[".repeat(100))).toThrow();
});
