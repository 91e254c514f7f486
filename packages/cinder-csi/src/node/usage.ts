import { stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CausewayError } from "@causeway/foundation";
import { VolumeUsage_Unit as Unit } from "@causeway/csi";
import { deviceBytes, deviceNumber } from "./device.ts";
import { grow } from "./file-system.ts";
import type { Host } from "@causeway/csi-openstack";
import { mountsAt, type MountEntry } from "./mount-table.ts";
import { realMountPath } from "./mounts.ts";

/** One entry of NodeGetVolumeStats, in bytes or inodes. */
export interface Usage {
  readonly unit: Unit;
  readonly total: bigint;
  readonly available?: bigint;
  readonly used?: bigint;
}

/** Bytes and inodes of a mounted file system; the size of a block device. */
export async function usageOf(host: Host, path: string): Promise<readonly Usage[]> {
  const kind = await kindOf(path);
  // Of a folder that is not mounted, these would be the node's own.
  if (kind === "folder" && (await mountsAt(host.mountInfo, await realMountPath(path))).length === 0)
    throw new CausewayError("CSI_NOT_FOUND", `No volume is mounted at ${path}.`);
  if (kind === "block") return [{ unit: Unit.BYTES, total: await deviceBytes(host, path) }];
  const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path, { bigint: true });
  return [
    { unit: Unit.BYTES, total: blocks * bsize, available: bavail * bsize, used: (blocks - bfree) * bsize },
    { unit: Unit.INODES, total: files, available: ffree, used: files - ffree },
  ];
}

/** Throws CSI_NOT_FOUND where the path does not exist. */
async function kindOf(path: string): Promise<"block" | "folder"> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isBlockDevice()) return "block";
  if (found?.isDirectory()) return "folder";
  throw new CausewayError("CSI_NOT_FOUND", `There is no volume at ${path}.`);
}

/** Grows the file system at the path to its device's size. A block volume has grown with its device. */
export async function expand(
  host: Host,
  path: string,
  options: { readonly rescan: boolean; readonly bytes: bigint },
): Promise<void> {
  if ((await kindOf(path)) === "block") return;
  const mounted = (await mountsAt(host.mountInfo, await realMountPath(path))).at(-1);
  if (mounted === undefined) throw new CausewayError("CSI_NOT_FOUND", `No volume is mounted at ${path}.`);
  const device = await deviceOf(mounted);
  if (options.rescan) await rescan(host, mounted.device);
  const size = await deviceBytes(host, device);
  if (options.bytes > size) {
    throw new CausewayError(
      "CSI_INTERNAL",
      `Device ${mounted.source} has ${size} bytes; ${options.bytes} are required.`,
      {
        hint: "Set rescan-on-resize in [BlockStorage] of cloud.conf if the hypervisor does not announce new sizes.",
      },
    );
  }
  await grow(host, { device, path, type: mounted.fsType });
}

/** The mounted device's path; its source is only a text that mount was given. */
async function deviceOf({ source, device }: MountEntry): Promise<string> {
  const number = source.startsWith("/dev/") ? await deviceNumber(source).catch(() => undefined) : undefined;
  return number === device ? source : `/dev/block/${device}`;
}

/** Requests the kernel to read the device's size again. */
async function rescan(host: Host, number: string): Promise<void> {
  await writeFile(join(host.sys, "dev/block", number, "device/rescan"), "1").catch(() => {});
}
