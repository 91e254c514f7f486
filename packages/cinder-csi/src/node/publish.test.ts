/** Mounting and unmounting on a node whose mount table and commands are played. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VolumeCapability_AccessMode_Mode as Mode } from "@causeway/csi";
import type { Host } from "@causeway/csi-openstack";
import { VirtualClock } from "@causeway/foundation";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unmount } from "./mounts.ts";
import { publish, type PublishCall } from "./stage.ts";
import { usageOf } from "./usage.ts";

let dir = "";
let table: { device: string; path: string; options: string }[] = [];
let run: string[] = [];
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "publish-")));
  [table, run] = [[], []];
});
afterEach(() => rmSync(dir, { recursive: true }));

/** `killed`: mount ends after the bind, before it is read-only. `deaf`: nothing becomes read-only. */
function hostOf({ killed = false, deaf = false } = {}): Host {
  const write = () =>
    writeFileSync(
      join(dir, "mountinfo"),
      table.map(({ device, path, options }) => `1 2 ${device} / ${path} ${options} - ext4 /dev/vdb rw\n`).join(""),
    );
  write();
  return {
    byId: dir,
    sys: dir,
    mountInfo: join(dir, "mountinfo"),
    run(command, args) {
      run.push([command, ...args].join(" "));
      const path = args.at(-1) ?? "";
      if (command === "umount") table = table.filter((each) => each.path !== path);
      else if (args[1]?.startsWith("remount")) {
        for (const each of table) if (each.path === path && !deaf) each.options = "ro";
      } else table.push({ device: "8:16", path, options: args[1]?.endsWith("ro") && !killed && !deaf ? "ro" : "rw" });
      write();
      return Promise.resolve({ status: 0, stdout: "", stderr: "" });
    },
  };
}

const callOf = (change: object = {}) =>
  ({
    volumeId: "v",
    staging: join(dir, "staging"),
    target: join(dir, "pod/mount"),
    capability: {
      accessType: { case: "mount", value: { fsType: "ext4", mountFlags: [] } },
      accessMode: { mode: Mode.SINGLE_NODE_MULTI_WRITER },
    },
    readOnly: true,
    signal: new AbortController().signal,
    ...change,
  }) as unknown as PublishCall;
const partsOf = (host: Host) => ({ host, clock: new VirtualClock() });
const staged = () => table.push({ device: "8:16", path: join(dir, "staging"), options: "rw" });

describe("a volume that a pod only reads", () => {
  test("is read-only after mount was killed half-way, in the same call and in a repeated one", async () => {
    staged();
    await publish(partsOf(hostOf({ killed: true })), callOf());
    expect(table.at(-1)).toEqual({ device: "8:16", path: join(dir, "pod/mount"), options: "ro" });
    // As the killed driver left it.
    for (const each of table.slice(1)) each.options = "rw";
    await publish(partsOf(hostOf()), callOf());
    expect(table.at(-1)?.options).toBe("ro");
    expect(table).toHaveLength(2);
    run = [];
    await publish(partsOf(hostOf()), callOf());
    expect(run).toEqual([]);
  });

  test("is an error where it does not become read-only", async () => {
    staged();
    await expect(publish(partsOf(hostOf({ deaf: true })), callOf())).rejects.toMatchObject({ code: "CSI_INTERNAL" });
  });
});

test("a volume for a single pod is published at one path", async () => {
  staged();
  const capability = { ...callOf().capability, accessMode: { mode: Mode.SINGLE_NODE_SINGLE_WRITER } };
  const host = hostOf();
  await publish(partsOf(host), callOf({ capability, readOnly: false }));
  await publish(partsOf(host), callOf({ capability, readOnly: false }));
  const other = callOf({ capability, readOnly: false, target: join(dir, "pod/other") });
  await expect(publish(partsOf(host), other)).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
  expect(table).toHaveLength(2);
});

describe("target paths of the Cinder driver", () => {
  test("are those of the mount table where a folder above them is a link", async () => {
    mkdirSync(join(dir, "real"));
    symlinkSync(join(dir, "real"), join(dir, "link"));
    table.push({ device: "8:16", path: join(dir, "real/staging"), options: "rw" });
    const call = callOf({ staging: join(dir, "link/staging"), target: join(dir, "link/pod"), readOnly: false });
    const host = hostOf();
    await publish(partsOf(host), call);
    await publish(partsOf(host), call);
    expect(table.map(({ path }) => path)).toEqual([join(dir, "real/staging"), join(dir, "real/pod")]);
    await unmount(host, join(dir, "link/pod"));
    expect(table).toHaveLength(1);
    expect(existsSync(join(dir, "real/pod"))).toBe(false);
  });

  test("that are links are neither mounted through nor removed", async () => {
    staged();
    mkdirSync(join(dir, "elsewhere"));
    mkdirSync(join(dir, "pod"));
    symlinkSync(join(dir, "elsewhere"), join(dir, "pod/mount"));
    const host = hostOf();
    await expect(publish(partsOf(host), callOf())).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
    await expect(unmount(host, join(dir, "pod/mount"))).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
    expect(run).toEqual([]);
  });

  test("with a file that has content, or a folder that has files, are kept", async () => {
    const host = hostOf();
    writeFileSync(join(dir, "data"), "data");
    await expect(unmount(host, join(dir, "data"))).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
    mkdirSync(join(dir, "folder/more"), { recursive: true });
    await expect(unmount(host, join(dir, "folder"))).rejects.toThrow(/ENOTEMPTY/);
    expect(readFileSync(join(dir, "data"), "utf8")).toBe("data");
    writeFileSync(join(dir, "block"), "");
    await unmount(host, join(dir, "block"));
    expect(existsSync(join(dir, "block"))).toBe(false);
  });

  test("where nothing is mounted have no statistics", async () => {
    mkdirSync(join(dir, "pod"));
    const host = hostOf();
    await expect(usageOf(host, join(dir, "pod"))).rejects.toMatchObject({ code: "CSI_NOT_FOUND" });
    table.push({ device: "8:16", path: join(dir, "pod"), options: "rw" });
    expect(await usageOf(hostOf(), join(dir, "pod"))).toHaveLength(2);
  });
});
