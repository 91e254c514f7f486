/**
 * The file of an etcd that is empty, but whose next revision is a chosen one: bbolt's format, as etcd opens it when a
 * member starts for the first time. It is what `etcdutl snapshot restore --bump-revision --mark-compacted` leaves of an
 * empty snapshot, without the program.
 * @see https://github.com/etcd-io/bbolt (page.go, internal/common/meta.go)
 */
const PAGE = 4096;
const PAGE_HEADER = 16;
const ELEMENT = 16;
const LEAF = 2;
const META = 4;
const FREE_LIST = 16;
const BUCKET_FLAG = 1;
const MAGIC = 0xed0cdaed;
const VERSION = 2;
/** The pages: two of meta data, the list of free pages, the root. */
const [FREE_PAGE, ROOT_PAGE, PAGES] = [2, 3, 4];
const META_SIZE = 56;

type Entry = readonly [key: Buffer, value: Buffer, flag?: number];

/**
 * @param revision a safe integer: the first write has the next one, and reads at this or an older one are refused as
 *   compacted
 */
export function seedFile(revision: number): Buffer {
  const main = revisionBytes(revision);
  const key = bucket([[main, Buffer.alloc(0)]]);
  const meta = bucket([[Buffer.from("scheduledCompactRev"), main]]);
  const file = Buffer.alloc(PAGES * PAGE);
  for (const page of [0, 1]) writeMeta(file.subarray(page * PAGE), page);
  writeHeader(file.subarray(FREE_PAGE * PAGE), { id: FREE_PAGE, flags: FREE_LIST, count: 0 });
  leaf(
    [
      [Buffer.from("key"), key, BUCKET_FLAG],
      [Buffer.from("meta"), meta, BUCKET_FLAG],
    ],
    ROOT_PAGE,
  ).copy(file, ROOT_PAGE * PAGE);
  return file;
}

/** As etcd's store has revisions: both parts of 8 bytes, with an underscore in between. */
function revisionBytes(revision: number): Buffer {
  const bytes = Buffer.alloc(17);
  bytes.writeBigUInt64BE(BigInt(revision), 0);
  bytes[8] = "_".charCodeAt(0);
  return bytes;
}

/** A bucket inside its parent's page: its header has root 0, and its page follows. */
function bucket(entries: readonly Entry[]): Buffer {
  return Buffer.concat([Buffer.alloc(16), leaf(entries, 0)]);
}

/** Entries in the order of their keys. */
function leaf(entries: readonly Entry[], id: number): Buffer {
  const head = Buffer.alloc(PAGE_HEADER + entries.length * ELEMENT);
  writeHeader(head, { id, flags: LEAF, count: entries.length });
  let at = head.length;
  for (const [index, [key, value, flag = 0]] of entries.entries()) {
    const element = PAGE_HEADER + index * ELEMENT;
    head.writeUInt32LE(flag, element);
    head.writeUInt32LE(at - element, element + 4);
    head.writeUInt32LE(key.length, element + 8);
    head.writeUInt32LE(value.length, element + 12);
    at += key.length + value.length;
  }
  return Buffer.concat([head, ...entries.flatMap(([key, value]) => [key, value])]);
}

function writeHeader(page: Buffer, { id, flags, count }: { id: number; flags: number; count: number }): void {
  page.writeBigUInt64LE(BigInt(id), 0);
  page.writeUInt16LE(flags, 8);
  page.writeUInt16LE(count, 10);
}

/** The page with the larger transaction is the valid one. */
function writeMeta(page: Buffer, transaction: number): void {
  writeHeader(page, { id: transaction, flags: META, count: 0 });
  const meta = page.subarray(PAGE_HEADER);
  for (const [index, value] of [MAGIC, VERSION, PAGE, 0].entries()) meta.writeUInt32LE(value, index * 4);
  const rest = [ROOT_PAGE, 0, FREE_PAGE, PAGES, transaction];
  for (const [index, value] of rest.entries()) meta.writeBigUInt64LE(BigInt(value), 16 + index * 8);
  meta.writeBigUInt64LE(fnv64a(meta.subarray(0, META_SIZE)), META_SIZE);
}

function fnv64a(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
