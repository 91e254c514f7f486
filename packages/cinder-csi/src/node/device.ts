import { open, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { CausewayError, type Clock } from "@causeway/foundation";
import { output, type Host } from "@causeway/csi-openstack";

/**
 * The names of a volume's device below /dev/disk/by-id. Its serial is the volume's ID, which virtio truncates to 20
 * characters.
 */
export function deviceNames(volumeId: string): readonly string[] {
  const short = volumeId.slice(0, 20);
  return [
    `virtio-${short}`,
    `virtio-${volumeId}`,
    `scsi-0QEMU_QEMU_HARDDISK_${short}`,
    `scsi-0QEMU_QEMU_HARDDISK_${volumeId}`,
    `wwn-0x${volumeId.replaceAll("-", "")}`,
  ];
}

const SAFE = /^[A-Za-z0-9._-]{1,128}$/;
/** Milliseconds that udev may take after Nova has attached the volume. */
const LONGEST = 30_000;
const BETWEEN = 1_000;

/** With what the device of a volume is found. */
export interface DeviceSearch {
  readonly host: Host;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The path that the metadata service has for the serial. */
  readonly fallback?: (volumeId: string) => Promise<string | undefined>;
}

/** The block device of an attached volume. Throws CSI_NOT_FOUND, CSI_INTERNAL. */
export async function findDevice({ host, clock, signal, fallback }: DeviceSearch, volumeId: string): Promise<string> {
  if (!SAFE.test(volumeId)) throw new CausewayError("CSI_NOT_FOUND", `"${volumeId}" is not the ID of a Cinder volume.`);
  const end = clock.now() + LONGEST;
  for (;;) {
    const found = await linked(host, volumeId);
    if (found !== undefined) return found;
    if (clock.now() >= end) break;
    await rescan(host);
    await clock.sleep(BETWEEN, signal);
  }
  const path = await fallback?.(volumeId);
  if (path !== undefined) return path;
  throw new CausewayError("CSI_INTERNAL", `Volume ${volumeId} has no device on this node.`, {
    hint: `ls -l ${host.byId} lists the devices; compare with \`openstack volume attachment list\`.`,
  });
}

async function linked(host: Host, volumeId: string): Promise<string | undefined> {
  for (const name of deviceNames(volumeId)) {
    const path = await realpath(join(host.byId, name)).catch(() => undefined);
    if (path === undefined || !(await stat(path).catch(() => undefined))?.isBlockDevice()) continue;
    if (await hasSerial(host, path, volumeId)) return path;
  }
  return undefined;
}

/**
 * A link that udev has not renewed yet may lead to the device of another volume. virtio devices show their serial,
 * which is the begin of the volume's ID; others have none here, and the link decides.
 */
async function hasSerial(host: Host, path: string, volumeId: string): Promise<boolean> {
  const serial = await readFile(join(host.sys, "class/block", basename(path), "serial"), "utf8").catch(() => "");
  return volumeId.startsWith(serial.trim());
}

/**
 * Requests the kernel and udev to list the devices of each SCSI host again. What fails here shows as a missing device.
 */
async function rescan(host: Host): Promise<void> {
  const folder = join(host.sys, "class/scsi_host");
  for (const name of await readdir(folder).catch(() => []))
    await writeFile(join(folder, name, "scan"), "- - -").catch(() => {});
  await host.run("udevadm", ["trigger"]).catch(() => {});
}

/** "major:minor", as mount tables name devices. */
export async function deviceNumber(path: string): Promise<string> {
  const { rdev } = await stat(path, { bigint: true });
  const major = ((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & ~0xfffn);
  const minor = (rdev & 0xffn) | ((rdev >> 12n) & ~0xffn);
  return `${major}:${BigInt.asUintN(32, minor)}`;
}

/** The size of a block device in bytes. @throws CSI_COMMAND_FAILED */
export async function deviceBytes(host: Host, path: string): Promise<bigint> {
  return BigInt((await output(host, "blockdev", ["--getsize64", path])).trim());
}

/** Reads part of a device. Throws when the device cannot be read. */
export async function readDevice(path: string, position: number, length: number): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
