import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { CausewayError } from "@causeway/foundation";
import { backupOf } from "./backup-superblocks.ts";
import { deviceBytes, readDevice } from "./device.ts";
import { output, type Host } from "@causeway/csi-openstack";

/** The file system of volumes whose StorageClass names none. */
export const DEFAULT_TYPE = "ext4";
const TYPES = new Set(["ext2", "ext3", "ext4", "xfs"]);

/** Throws CSI_INVALID_ARGUMENT for a type that the driver cannot make and grow. */
export function fileSystemType(asked: string): string {
  const type = asked === "" ? DEFAULT_TYPE : asked;
  if (TYPES.has(type)) return type;
  throw new CausewayError("CSI_INVALID_ARGUMENT", `File system ${type} is not supported.`, {
    hint: "Set csi.storage.k8s.io/fstype to ext4, ext3, ext2 or xfs.",
  });
}

/** What a device holds. */
export type Content =
  | { readonly type: "empty" }
  | { readonly type: "file-system"; readonly name: string }
  /** A partition table, an encrypted or RAID volume, or several signatures. */
  | { readonly type: "other"; readonly name: string }
  /** A file system whose begin was overwritten. */
  | { readonly type: "damaged"; readonly name: string; readonly uuid: string };

/** blkid's status for "nothing was found", which it also has for a device that it cannot read. */
const NOTHING = 2;
const AMBIVALENT = 8;
const XFS_IN_PROGRESS = 126;
const PROBED = 1024 * 1024;

/**
 * A device is empty only if its begin and end can be read, two programs find no signature there, and no copy of a
 * superblock shows that its begin was overwritten. An error is never a proof. A file system whose mkfs.xfs was killed
 * counts as empty: it is marked so, and cannot have been mounted.
 */
export async function contentOf(host: Host, device: string): Promise<Content> {
  const size = await deviceBytes(host, device);
  const begin = await readDevice(device, 0, Math.min(PROBED, Number(size)));
  await readDevice(device, Number(size > BigInt(PROBED) ? size - BigInt(PROBED) : 0n), PROBED);
  if (begin.length < 4096) throw new CausewayError("CSI_INTERNAL", `Device ${device} has ${size} bytes only.`);
  if (begin.toString("latin1", 0, 4) === "XFSB" && begin[XFS_IN_PROGRESS] === 1) return { type: "empty" };
  const { status, stdout, stderr } = await host.run("blkid", ["-p", "-o", "export", device]);
  if (status === AMBIVALENT) return { type: "other", name: "several signatures" };
  if (status !== 0 && status !== NOTHING) {
    throw new CausewayError("CSI_COMMAND_FAILED", `blkid ${device} ended with ${status}: ${stderr.trim()}`);
  }
  const facts = new Map(
    stdout.split("\n").map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]),
  );
  const [type, usage, table] = [facts.get("TYPE"), facts.get("USAGE"), facts.get("PTTYPE")];
  if (type !== undefined)
    return { type: usage === "filesystem" || TYPES.has(type) ? "file-system" : "other", name: type };
  if (table !== undefined) return { type: "other", name: `partition table ${table}` };
  const signatures = (await output(host, "wipefs", ["--no-act", "--noheadings", "--output", "TYPE", device])).trim();
  if (signatures !== "") return { type: "other", name: signatures.split(/\s+/).join(", ") };
  const damaged = await backupOf(device, size);
  return damaged === undefined ? { type: "empty" } : { type: "damaged", ...damaged };
}

/** How the file system of a device is made or checked before its first mount. */
export interface PrepareOptions {
  readonly type: string;
  readonly readOnly: boolean;
  /**
   * A file of the node that has the UUID of the file system that is being made. It proves that what a killed mkfs left
   * is no file system that was in use.
   */
  readonly record: string;
}

/**
 * Makes the file system on a device that is proven to be empty, and keeps one of the requested type. Throws
 * CSI_FAILED_PRECONDITION.
 */
export async function prepare(host: Host, device: string, options: PrepareOptions): Promise<void> {
  const { type, readOnly, record } = options;
  const content = await contentOf(host, device);
  if (content.type === "file-system" && content.name === type) {
    await rm(record, { force: true });
    return check(host, device, { type, readOnly });
  }
  const isUnfinished = content.type === "damaged" && content.uuid !== "" && content.uuid === (await recorded(record));
  if (content.type !== "empty" && !isUnfinished) throw refusal(device, content, type);
  if (readOnly)
    throw new CausewayError("CSI_FAILED_PRECONDITION", `Device ${device} is empty and is to be mounted read-only.`);
  // mkfs.xfs marks what it has not finished by itself.
  if (type === "xfs") return void (await output(host, "mkfs.xfs", ["-f", "-q", device]));
  const uuid = randomUUID();
  await writeFile(record, uuid, { mode: 0o600, flush: true });
  await output(host, `mkfs.${type}`, ["-F", "-q", "-m0", "-U", uuid, device]);
  await rm(record, { force: true });
}

const recorded = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

function refusal(device: string, content: Exclude<Content, { type: "empty" }>, type: string): CausewayError {
  if (content.type !== "damaged") {
    const why = `Device ${device} holds ${content.name} instead of ${type}; it is not formatted.`;
    const hint = "Request the file system that the volume has, or delete its content.";
    return new CausewayError("CSI_FAILED_PRECONDITION", why, { hint });
  }
  const why = `Device ${device} has copies of the superblock of ${content.name} and no superblock; it is not formatted.`;
  const hint =
    "Repair the file system by such a copy (fsck.ext4 -b, xfs_repair). If the volume is new and another node was stopped while it formatted the volume, there is no data: delete the claim.";
  return new CausewayError("CSI_FAILED_PRECONDITION", why, { hint });
}

/** Bits of fsck's status. */
const CORRECTED = 1;
const UNCORRECTED = 4;

/** Replays the journal and repairs what is safe to repair. xfs does so when it is mounted. */
async function check(
  host: Host,
  device: string,
  { type, readOnly }: { type: string; readOnly: boolean },
): Promise<void> {
  if (type === "xfs" || readOnly) return;
  const { status, stdout, stderr } = await host.run("fsck", ["-a", device]);
  if ((status & UNCORRECTED) === 0 || status === CORRECTED || status < 0) return;
  throw new CausewayError(
    "CSI_INTERNAL",
    `The file system on ${device} has errors: ${(stdout + stderr).trim().slice(0, 500)}`,
    {
      hint: `Run fsck.${type} on a node that has the volume.`,
    },
  );
}

/** Grows a mounted file system to the size of its device; one that has that size is left as it is. */
export async function grow(
  host: Host,
  mounted: { readonly device: string; readonly path: string; readonly type: string },
): Promise<void> {
  if (mounted.type === "xfs") await output(host, "xfs_growfs", [mounted.path]);
  else if (mounted.type.startsWith("ext")) await output(host, "resize2fs", [mounted.device]);
  else throw new CausewayError("CSI_INTERNAL", `File system ${mounted.type} at ${mounted.path} cannot be grown.`);
}

/** Characters of all options of a mount: the kernel reads one page. */
const LONGEST_OPTIONS = 4_095;

/** Options of the StorageClass; clones of an xfs volume have its UUID, and can be mounted next to it. */
export function mountOptions(type: string, flags: readonly string[], readOnly: boolean): readonly string[] {
  const extra = type === "xfs" && !flags.includes("nouuid") ? ["nouuid"] : [];
  const all = [...flags, ...extra, ...(readOnly && !flags.includes("ro") ? ["ro"] : [])];
  if (all.join(",").length <= LONGEST_OPTIONS && !all.some((each) => /^$|[\0\n]/.test(each))) return all;
  throw new CausewayError(
    "CSI_INVALID_ARGUMENT",
    "The mount options are empty texts, or longer than 4095 characters.",
    {
      hint: "Check mountOptions of the StorageClass or PersistentVolume.",
    },
  );
}
