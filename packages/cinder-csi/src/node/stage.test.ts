/** Staging and block volumes of a device that this machine has; its mount table and commands are played. */
import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VolumeCapability_AccessMode_Mode as Mode } from "@causeway/csi";
import type { CommandResult, Host } from "@causeway/csi-openstack";
import { VirtualClock } from "@causeway/foundation";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RESIZE_REQUIRED } from "../names.ts";
import { grow, prepare } from "./file-system.ts";
import { publish, stage, type PublishCall, type StageCall } from "./stage.ts";

const DEVICE = "/dev/loop0";
const VOLUME = "0e3a5b6c-1111-4000-8000-000000000000";
const signal = new AbortController().signal;

let dir = "";
let run: string[] = [];
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "stage-")));
  run = [];
  symlinkSync(DEVICE, join(dir, "virtio-0e3a5b6c-1111-4000-8"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function hostOf(mounts: readonly string[] = [], answers: Readonly<Record<string, Partial<CommandResult>>> = {}): Host {
  writeFileSync(join(dir, "mountinfo"), mounts.map((line) => `1 2 ${line}\n`).join(""));
  return {
    byId: dir,
    sys: dir,
    mountInfo: join(dir, "mountinfo"),
    run(command, args) {
      run.push([command, ...args].join(" "));
      return Promise.resolve({ status: 0, stdout: "", stderr: "", ...answers[command] });
    },
  };
}
const partsOf = (host: Host) => ({ host, clock: new VirtualClock() });
const capabilityOf = (mode: Mode, accessType: "mount" | "block" = "mount") => ({
  accessType: { case: accessType, value: { fsType: "ext4", mountFlags: [] } },
  accessMode: { mode },
});
const stageCall = (change: object = {}) =>
  ({
    volumeId: VOLUME,
    path: join(dir, "staging"),
    capability: capabilityOf(Mode.SINGLE_NODE_WRITER),
    context: {},
    signal,
    ...change,
  }) as unknown as StageCall;

describe.runIf(existsSync(DEVICE))("a device that is mounted at the staging path", () => {
  const mounted = () => [`7:0 / ${join(dir, "staging")} rw - ext4 ${DEVICE} rw`];
  const copy = { context: { [RESIZE_REQUIRED]: "True" } };

  test("is left as it is, and the file system of a copy grows unless it is only read", async () => {
    await stage(partsOf(hostOf(mounted())), stageCall());
    for (const mode of [Mode.SINGLE_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY])
      await stage(partsOf(hostOf(mounted())), stageCall({ ...copy, capability: capabilityOf(mode) }));
    expect(run).toEqual([]);
    await stage(partsOf(hostOf(mounted())), stageCall(copy));
    expect(run).toEqual([`resize2fs ${DEVICE}`]);
  });

  test("is an error when it is another device, and none is mounted over it", async () => {
    const host = hostOf([`8:16 / ${join(dir, "staging")} rw - ext4 /dev/vdb rw`]);
    await expect(stage(partsOf(host), stageCall())).rejects.toMatchObject({ code: "CSI_INTERNAL" });
    expect(run).toEqual([]);
  });

  test("is not needed for a block volume, which is bound to its target once", async () => {
    await stage(partsOf(hostOf()), stageCall({ capability: capabilityOf(Mode.SINGLE_NODE_WRITER, "block") }));
    expect(run).toEqual([]);
    const call = (target: string, mode: Mode = Mode.SINGLE_NODE_WRITER) =>
      ({
        ...stageCall({ capability: capabilityOf(mode, "block") }),
        staging: join(dir, "staging"),
        target,
        readOnly: false,
      }) as unknown as PublishCall;
    const target = join(dir, "pod/device");
    await publish(partsOf(hostOf()), call(target));
    expect(run).toEqual([`mount -o bind,rw ${DEVICE} ${target}`]);
    const other = `0:5 /loop0 ${DEVICE} rw - devtmpfs udev rw`;
    await publish(partsOf(hostOf([other])), call(DEVICE));
    expect(run).toHaveLength(1);
    // Its target has a file where the mount table has a mount of some device.
    const wrong = hostOf([`0:5 /loop1 ${target} rw - devtmpfs udev rw`]);
    await expect(publish(partsOf(wrong), call(target))).rejects.toMatchObject({ code: "CSI_INTERNAL" });
    const single = () => call(target, Mode.SINGLE_NODE_SINGLE_WRITER);
    await expect(publish(partsOf(hostOf([other])), single())).rejects.toMatchObject({
      code: "CSI_FAILED_PRECONDITION",
    });
    await publish(partsOf(hostOf([`0:5 /loop1 ${DEVICE} rw - devtmpfs udev rw`])), single());
  });
});

describe("a file system", () => {
  const MIB = 1024 * 1024;
  const device = () => join(dir, "device");
  const holding = (content: string, answers: Readonly<Record<string, Partial<CommandResult>>> = {}): Host => {
    writeFileSync(device(), Buffer.alloc(2 * MIB));
    const blkid = content === "" ? { status: 2 } : { stdout: content };
    return hostOf([], { blockdev: { stdout: String(2 * MIB) }, blkid, ...answers });
  };
  const prepared = (host: Host, change: { type?: string; readOnly?: boolean } = {}) =>
    prepare(host, device(), { type: "ext4", readOnly: false, record: join(dir, "record"), ...change });
  const made = () => run.filter((each) => /^(?:mkfs|fsck)/.test(each)).map((each) => each.split(" ")[0]);
  const ext4 = "TYPE=ext4\nUSAGE=filesystem\n";

  test("of the requested type is checked and kept", async () => {
    for (const status of [0, 1, 2, 8]) await prepared(holding(ext4, { fsck: { status } }));
    await prepared(holding("TYPE=ext4\n"));
    expect(new Set(made())).toEqual(new Set(["fsck"]));
    run = [];
    await prepared(holding(ext4), { readOnly: true });
    await prepared(holding("TYPE=xfs\nUSAGE=filesystem\n"), { type: "xfs" });
    expect(made()).toEqual([]);
  });

  test("with errors that fsck left is not mounted", async () => {
    for (const status of [4, 5, 12])
      await expect(prepared(holding(ext4, { fsck: { status } }))).rejects.toMatchObject({ code: "CSI_INTERNAL" });
  });

  test("is never made over another one, or over anything else", async () => {
    for (const content of [ext4, "TYPE=btrfs\nUSAGE=filesystem\n", "TYPE=crypto_LUKS\nUSAGE=crypto\n", "PTTYPE=dos\n"])
      await expect(prepared(holding(content), { type: "xfs" })).rejects.toMatchObject({
        code: "CSI_FAILED_PRECONDITION",
      });
    expect(made()).toEqual([]);
  });

  test("is not made for a volume that is only read", async () => {
    await expect(prepared(holding(""), { readOnly: true })).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
    expect(made()).toEqual([]);
    await prepared(holding(""), { type: "xfs" });
    await prepared(holding(""), { type: "ext3" });
    expect(made()).toEqual(["mkfs.xfs", "mkfs.ext3"]);
  });

  test("is not made on a device of which less than a page can be read", async () => {
    const host = hostOf([], { blockdev: { stdout: "2048" }, blkid: { status: 2 } });
    writeFileSync(device(), Buffer.alloc(2048));
    await expect(prepared(host)).rejects.toMatchObject({ code: "CSI_INTERNAL" });
  });

  test("grows with its own program, by its path or by its device", async () => {
    const mounted = { device: "/dev/x", path: "/mnt" };
    await grow(hostOf(), { ...mounted, type: "xfs" });
    await grow(hostOf(), { ...mounted, type: "ext3" });
    expect(run).toEqual(["xfs_growfs /mnt", "resize2fs /dev/x"]);
    await expect(grow(hostOf(), { ...mounted, type: "nfs" })).rejects.toMatchObject({ code: "CSI_INTERNAL" });
  });
});
