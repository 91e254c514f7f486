import { readDevice } from "./device.ts";

const EXT_MAGIC = 0xef53;
const EXT_MAGIC_AT = 56;
const EXT_BLOCK_SIZE_AT = 24;
const EXT_GROUP_AT = 90;
const EXT_BLOCKS_AT = 4;
const EXT_BLOCKS_HIGH_AT = 336;
const EXT_UUID_AT = 104;
/** Block sizes of mkfs.ext4. A group has eight times as many blocks as a block has bytes. */
const EXT_BLOCKS = [1024, 2048, 4096];
/**
 * mkfs.xfs makes four allocation groups of a device that is no array, unless it has four TiB. The copies of one that
 * has grown since are elsewhere, and are not found.
 */
const XFS_GROUPS = 4n;
const XFS_BLOCK = 4096n;
const XFS_LARGEST = 2n ** 42n;

/** A copy of a superblock. */
export interface BackupSuperblock {
  readonly name: string;
  /** Of the file system; "": it was not read. */
  readonly uuid: string;
}

/**
 * The copy of a superblock that the device has: it was overwritten at its begin, where blkid and wipefs search. Throws
 * when the device cannot be read.
 */
export async function backupOf(device: string, size: bigint): Promise<BackupSuperblock | undefined> {
  for (const block of EXT_BLOCKS) {
    const uuid = await extBackup(device, size, block);
    if (uuid !== undefined) return { name: "ext2, ext3 or ext4", uuid };
  }
  return size < XFS_LARGEST && (await hasXfsBackup(device, size)) ? { name: "xfs", uuid: "" } : undefined;
}

/**
 * The first copy is at the begin of group 1; with blocks of 1 KiB the first block is not in a group. A copy of a larger
 * file system is of a deleted volume, whose blocks the backend did not overwrite. Returns the file system's UUID.
 */
async function extBackup(device: string, size: bigint, block: number): Promise<string | undefined> {
  const at = block * (8 * block + (block === 1024 ? 1 : 0));
  if (BigInt(at) + 1024n > size) return undefined;
  const copy = await readDevice(device, at, 1024);
  if (copy.length < 1024 || copy.readUInt16LE(EXT_MAGIC_AT) !== EXT_MAGIC) return undefined;
  if (copy.readUInt16LE(EXT_GROUP_AT) !== 1 || copy.readUInt32LE(EXT_BLOCK_SIZE_AT) !== Math.log2(block / 1024))
    return undefined;
  const blocks = BigInt(copy.readUInt32LE(EXT_BLOCKS_HIGH_AT)) * 2n ** 32n + BigInt(copy.readUInt32LE(EXT_BLOCKS_AT));
  if (blocks * BigInt(block) > size) return undefined;
  return copy.toString("hex", EXT_UUID_AT, EXT_UUID_AT + 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

async function hasXfsBackup(device: string, size: bigint): Promise<boolean> {
  const blocks = size / XFS_BLOCK;
  const group = (blocks + XFS_GROUPS - 1n) / XFS_GROUPS;
  const copy = await readDevice(device, Number(group * XFS_BLOCK), 4);
  return copy.toString("latin1") === "XFSB";
}
