/** What the node service answers before anything is mounted; csi-sanity mounts loop devices. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError, csiClient, NodeServiceCapability_RPC_Type as Rpc, serveCsi } from "@causeway/csi";
import { metadataReader, translate, type CommandResult, type Host } from "@causeway/csi-openstack";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createIdentity } from "../identity.ts";
import { fileSystem } from "../testing/world.ts";
import { createNode, type NodeOptions } from "./node.ts";
import { expand } from "./usage.ts";

const VOLUME = "0e3a5b6c-1111-4000-8000-000000000000";

let dir = "";
const open: { close(): unknown }[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "node-"));
});
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
  rmSync(dir, { recursive: true });
});

const hostOf = (answers: Readonly<Record<string, Partial<CommandResult>>> = {}): Host => ({
  byId: join(dir, "by-id"),
  mountInfo: join(dir, "mountinfo"),
  sys: join(dir, "sys"),
  run: (command) => Promise.resolve({ status: 0, stdout: "", stderr: "", ...answers[command] }),
});

async function serve(options: Partial<NodeOptions> = {}) {
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const metadata = () => Promise.resolve({ uuid: "server-1", zone: "Zone 1/a", disks: [] });
  const node = createNode({ host: hostOf(), metadata, ...options });
  open.push(await serveCsi({ endpoint, translate, identity: createIdentity({ version: "1" }), node }));
  const client = csiClient(endpoint);
  open.push(client);
  return client.node;
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );

test("the Cinder node plugin announces upstream's capabilities, and pods that share a volume of one node", async () => {
  const { capabilities } = await (await serve()).nodeGetCapabilities({});
  const announced = capabilities.map(({ type }) => (type.case === "rpc" ? type.value.type : undefined));
  expect(announced).toEqual([
    Rpc.STAGE_UNSTAGE_VOLUME,
    Rpc.EXPAND_VOLUME,
    Rpc.GET_VOLUME_STATS,
    Rpc.SINGLE_NODE_MULTI_WRITER,
  ]);
});

test("the answer to NodeGetInfo has the server's ID, its zone as a label can have it, further segments and the limit of its bus", async () => {
  mkdirSync(join(dir, "sys/block/vda"), { recursive: true });
  const node = await serve({ topology: { rack: "r1" } });
  const info = await node.nodeGetInfo({});
  expect(info).toMatchObject({ nodeId: "server-1", maxVolumesPerNode: 24n });
  expect(info.accessibleTopology?.segments).toEqual({
    rack: "r1",
    "topology.cinder.csi.openstack.org/zone": "Zone-1-a",
  });
});

test("the answer to NodeGetInfo has no topology without --with-topology, and the configured limit", async () => {
  const info = await (await serve({ withTopology: false, attachLimit: 300 })).nodeGetInfo({});
  expect([info.accessibleTopology, info.maxVolumesPerNode]).toEqual([undefined, 256n]);
});

test("the Cinder node plugin refuses inline ephemeral volumes with UNIMPLEMENTED", async () => {
  const request = { volumeId: VOLUME, targetPath: "/pod", stagingTargetPath: "/staging", volumeCapability: fileSystem };
  const volumeContext = { "csi.storage.k8s.io/ephemeral": "true" };
  expect(await codeOf((await serve()).nodePublishVolume({ ...request, volumeContext }))).toBe(Code.Unimplemented);
});

test("the Cinder node plugin does not publish a volume that is not staged, and has no statistics of a missing path", async () => {
  writeFileSync(join(dir, "mountinfo"), "");
  const node = await serve();
  const request = { volumeId: VOLUME, targetPath: join(dir, "pod"), stagingTargetPath: join(dir, "staging") };
  const volumeCapability = fileSystem;
  expect(await codeOf(node.nodePublishVolume({ ...request, volumeCapability }))).toBe(Code.FailedPrecondition);
  expect(await codeOf(node.nodeGetVolumeStats({ volumeId: VOLUME, volumePath: join(dir, "none") }))).toBe(
    Code.NotFound,
  );
});

test("the Cinder node plugin reads the server's metadata once, and again after a failure", async () => {
  const documents: (string | undefined)[] = [undefined, '{"uuid": "u", "availability_zone": "z"}'];
  let mounts = 0;
  const host: Host = {
    ...hostOf(),
    run(command, args) {
      if (command === "blkid") return Promise.resolve({ status: 0, stdout: "/dev/sr0\n", stderr: "" });
      if (command === "mount") {
        const document = documents[mounts];
        mounts += 1;
        if (document === undefined) return Promise.resolve({ status: 32, stdout: "", stderr: "no medium" });
        const folder = join(args.at(-1) ?? "", "openstack/latest");
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "meta_data.json"), document);
        return Promise.resolve({ status: 0, stdout: "", stderr: "" });
      }
      rmSync(join(args.at(-1) ?? "", "openstack"), { recursive: true });
      return Promise.resolve({ status: 0, stdout: "", stderr: "" });
    },
  };
  const read = metadataReader({ host, order: ["configDrive"] });
  await expect(read()).rejects.toMatchObject({ code: "CSI_METADATA_MISSING" });
  expect(await read()).toEqual({ uuid: "u", zone: "z", disks: [] });
  expect(await read()).toEqual({ uuid: "u", zone: "z", disks: [] });
  expect(mounts).toBe(2);
});

test("the Cinder node plugin does not take a volume with the label config-2 for the config drive", async () => {
  const byId = join(dir, "by-id");
  mkdirSync(byId);
  // Links of udev to volumes: their targets need not exist.
  symlinkSync("/dev/none-b", join(byId, "virtio-0e3a5b6c-1111-4000-8"));
  symlinkSync("/dev/none-c", join(byId, "scsi-0QEMU_QEMU_HARDDISK_0e3a5b6c-2222-4000-8"));
  const volumes = [...readdirSync(byId)].map((name) => join(byId, name));
  const mounted: string[] = [];
  const readWith = async (devices: readonly string[]) => {
    const host: Host = {
      ...hostOf(),
      run(command, args) {
        if (command === "blkid") return Promise.resolve({ status: 0, stdout: devices.join("\n"), stderr: "" });
        if (command === "mount") mounted.push(args.at(-2) ?? "");
        return Promise.resolve({ status: command === "mount" ? 32 : 0, stdout: "", stderr: "" });
      },
    };
    await metadataReader({ host, order: ["configDrive"] })().catch(() => {});
  };
  // A whole volume, and a partition of one.
  await readWith(volumes.flatMap((each) => [each, `${each}1`]));
  expect(mounted).toEqual([]);
  await readWith([...volumes, "/dev/sr0"]);
  expect(mounted).toEqual(["/dev/sr0"]);
});

test("the Cinder node plugin grows a file system when the device has the size, and has the kernel read it again with rescan-on-resize", async () => {
  const path = join(dir, "mounted");
  mkdirSync(path);
  mkdirSync(join(dir, "sys/dev/block/8:16/device"), { recursive: true });
  writeFileSync(join(dir, "mountinfo"), `36 35 8:16 / ${path} rw - ext4 /dev/none rw\n`);
  const gib = 1024n ** 3n;
  const run: string[] = [];
  const host: Host = {
    ...hostOf(),
    run(command, args) {
      run.push([command, ...args].join(" "));
      return Promise.resolve({ status: 0, stdout: command === "blockdev" ? `${2n * gib}\n` : "", stderr: "" });
    },
  };
  await expect(expand(host, path, { rescan: false, bytes: 3n * gib })).rejects.toThrow(/has 2147483648 bytes/);
  const asked = join(dir, "sys/dev/block/8:16/device/rescan");
  expect(() => readFileSync(asked)).toThrow(/ENOENT/);
  await expand(host, path, { rescan: true, bytes: 2n * gib });
  expect(readFileSync(asked, "utf8")).toBe("1");
  expect(run.at(-1)).toBe("resize2fs /dev/block/8:16");
  await expect(expand(host, join(dir, "none"), { rescan: false, bytes: 0n })).rejects.toMatchObject({
    code: "CSI_NOT_FOUND",
  });
});
